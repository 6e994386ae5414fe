package function

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func hashFunctions() []*Scalar {
	sig := []string{"(STRING)"}
	inf := inferStrings(1, 1, sqltype.StringType)
	return []*Scalar{
		{Name: "MD5", Doc: "the MD5 hash, 32 hexadecimal digits", Signatures: sig, Deterministic: true, Infer: inf, Bind: bindHash("MD5")},
		{Name: "SHA1", Doc: "the SHA-1 hash, 40 hexadecimal digits", Signatures: sig, Deterministic: true, Infer: inf, Bind: bindHash("SHA1")},
		{Name: "SHA256", Doc: "the SHA-256 hash, 64 hexadecimal digits", Signatures: sig, Deterministic: true, Infer: inf, Bind: bindHash("SHA256")},
	}
}

func bindHash(name string) func(Binding) (Kernel, error) {
	return func(Binding) (Kernel, error) {
		var text kernel.TextBuffer
		return func(c *Call) (*vector.Vector, error) {
			text.Reset()
			for i := range c.N {
				s := c.Args[0].Bytes(i)
				switch name {
				case "MD5":
					h := md5.Sum(s)
					text.Data = hex.AppendEncode(text.Data, h[:])
				case "SHA1":
					h := sha1.Sum(s)
					text.Data = hex.AppendEncode(text.Data, h[:])
				default:
					h := sha256.Sum256(s)
					text.Data = hex.AppendEncode(text.Data, h[:])
				}
				text.End()
			}
			return text.Column(c.Pool, vector.String), nil
		}, nil
	}
}
