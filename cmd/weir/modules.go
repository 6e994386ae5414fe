package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/udf"
)

// noCache is the value of --module-cache for none.
const noCache = "none"

// modules says how functions in WebAssembly are run: with a cache of what they were
// compiled to, by default in the user's own, and with what they log on standard error.
func modules(cache string, log io.Writer) udf.Config {
	switch cache {
	case noCache:
		cache = ""
	case "":
		if dir, err := os.UserCacheDir(); err == nil {
			cache = filepath.Join(dir, "weir", "modules")
			if os.MkdirAll(cache, 0o700) != nil {
				cache = "" // a read-only home is no reason not to run
			}
		}
	}
	return udf.Config{CacheDir: cache, Log: func(l udf.Line) {
		level := [...]string{"debug", "info", "warning", "error"}[min(l.Level, abi.Error)]
		fmt.Fprintf(log, "%s: %s: %s: %s\n", l.Module, l.Function, level, l.Text)
	}}
}
