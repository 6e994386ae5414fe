package output

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// jsonLines writes an object a line: "op", then the columns. Numbers that JSON
// readers would round (decimals) or do not know (NaN) are strings.
type jsonLines struct {
	w      *bufio.Writer
	schema sqltype.Schema
	names  []string // `,"name":`
	buf    []byte
	rows   int64
}

func newJSON(w io.Writer, schema sqltype.Schema) *jsonLines {
	j := &jsonLines{w: bufio.NewWriterSize(w, 64<<10), schema: schema}
	for _, name := range schema.Names() {
		j.names = append(j.names, ","+string(appendJSONString(nil, name))+":")
	}
	return j
}

func (j *jsonLines) Print(b *vector.Batch) error {
	for i := range b.Len() {
		r := b.Row(i)
		j.buf = append(j.buf[:0], `{"op":"`...)
		j.buf = append(j.buf, b.Kind(r).String()...)
		j.buf = append(j.buf, '"')
		for c, col := range j.schema {
			j.buf = append(j.buf, j.names[c]...)
			j.buf = appendJSON(j.buf, col.Type, b.Col(c), r)
		}
		j.buf = append(j.buf, '}', '\n')
		j.w.Write(j.buf) // the error comes with Flush
		j.rows++
	}
	return j.w.Flush()
}

func (j *jsonLines) Close() error { return j.w.Flush() }

func (j *jsonLines) Rows() int64 { return j.rows }

func appendJSON(dst []byte, t sqltype.Type, v *vector.Vector, i int) []byte {
	if v.IsNull(i) || t.ID == sqltype.Null {
		return append(dst, "null"...)
	}
	switch {
	case t.ID == sqltype.Boolean:
		return strconv.AppendBool(dst, vector.Values[bool](v)[i])
	case t.IsInteger():
		return sqltype.AppendText(dst, t, v, i)
	case t.IsString():
		return appendJSONString(dst, v.Text(i))
	case t.IsBinary():
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Bytes(i))
		return append(dst, '"')
	case t.IsApprox() && finite(v, i):
		return sqltype.AppendText(dst, t, v, i) // 1.0E10 is JSON as well
	case t.IsNested():
		return appendNested(dst, t, v, i)
	}
	dst = append(dst, '"')
	dst = sqltype.AppendText(dst, t, v, i)
	return append(dst, '"')
}

// appendNested is an array, or an object of the fields or entries.
func appendNested(dst []byte, t sqltype.Type, v *vector.Vector, i int) []byte {
	types, brackets := t.Children(), "{}"
	child := func(first bool, key string, t sqltype.Type, v *vector.Vector, i int) {
		if !first {
			dst = append(dst, ',')
		}
		if brackets == "{}" {
			dst = append(appendJSONString(dst, key), ':')
		}
		dst = appendJSON(dst, t, v, i)
	}
	if t.ID == sqltype.Array {
		brackets = "[]"
	}
	dst = append(dst, brackets[0])
	if t.ID == sqltype.Row {
		for f, c := range t.Fields {
			child(f == 0, c.Name, c.Type, v.Child(f), i)
		}
		return append(dst, brackets[1])
	}
	from, to := int(v.Offsets()[i]), int(v.Offsets()[i+1])
	for e := from; e < to; e++ {
		key := ""
		if t.ID != sqltype.Array {
			key = string(sqltype.AppendText(nil, types[0], v.Child(0), e))
		}
		last := len(types) - 1
		child(e == from, key, types[last], v.Child(last), e)
	}
	return append(dst, brackets[1])
}

func finite(v *vector.Vector, i int) bool {
	f := 0.0
	if v.Kind() == vector.Float32 {
		f = float64(vector.Values[float32](v)[i])
	} else {
		f = vector.Values[float64](v)[i]
	}
	return !math.IsNaN(f) && !math.IsInf(f, 0)
}

func appendJSONString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(fmt.Sprintf("output: a string is not encoded: %v", err))
			}
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
