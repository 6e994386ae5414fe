//go:build !wasip1

package abi_test

import (
	"fmt"

	"github.com/weirdb/weir/abi"
)

// A tool that builds modules appends the manifest after linking; a host reads it
// without running the module.
func Example() {
	f := abi.NewFunction("add", abi.Scalar)
	if err := f.SetSignature("a BIGINT, b BIGINT DEFAULT 1 -> BIGINT"); err != nil {
		fmt.Println(err)
	}
	f.Deterministic = true
	m := &abi.Manifest{MinABI: abi.Version, MaxABI: abi.Version, Module: "demo", Version: "1.0.0", Functions: []abi.Function{f}}
	linked := []byte("\x00asm\x01\x00\x00\x00")
	module, err := abi.AppendManifest(linked, m)
	if err != nil {
		fmt.Println(err)
	}
	text, _ := abi.ManifestSection(module)
	fmt.Println(string(text))

	m, err = abi.ReadManifest(module)
	if err != nil {
		fmt.Println(err)
	}
	for _, f := range m.Functions {
		fmt.Println(f.Kind, f.Name, f.Args, f.Returns, f.Exports())
	}
	// Output:
	// {"abi":[1,1],"module":"demo","version":"1.0.0","functions":[{"name":"add","kind":"scalar","args":[{"name":"a","type":"BIGINT"},{"name":"b","type":"BIGINT","default":"1"}],"returns":"BIGINT","deterministic":true}]}
	// scalar add [{a BIGINT  false} {b BIGINT 1 true}] BIGINT [{add 0 false}]
}

// A misspelt key is found where it stands.
func ExampleParseManifest() {
	_, err := abi.ParseManifest([]byte(`{"abi": [1, 1], "module": "demo", "functions": [
		{"name": "f", "kind": "scalar", "args": [], "returns": "INT", "determinstic": true}]}`))
	fmt.Println(err)
	// Output:
	// manifest: functions[0].determinstic: unknown key (a key of your own begins with "x-")
}
