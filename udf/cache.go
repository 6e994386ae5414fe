package udf

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/weirdb/weir/udf/internal/meter"
	"github.com/weirdb/weir/udf/internal/wasm"
)

// compile compiles the rewritten module, or takes it from the cache directory. There each
// module has a directory, named by the hash of what is compiled, that the runtime fills
// under its version. The runtime checks its files too little to read what may have
// been cut off or changed, so that a sum stands beside them; without the right one the
// entry is deleted and made again.
func (m *Module) compile(ctx context.Context, code []byte, imports map[[2]string]hostFunction) error {
	dir := m.host.config.CacheDir
	if dir == "" {
		return m.compileWith(ctx, wazero.NewCompilationCache(), code, imports)
	}
	sum := hash(code)
	entry := filepath.Join(dir, hex.EncodeToString(sum[:]))
	have, err := entrySum(entry)
	if want, rerr := os.ReadFile(entry + sumSuffix); err != nil || rerr != nil || have != string(want) {
		// What cannot be deleted cannot be used either: the next step fails, too.
		os.RemoveAll(entry)
		os.Remove(entry + sumSuffix)
		have = ""
	}
	if cache, err := wazero.NewCompilationCacheWithDir(entry); err == nil {
		if m.compileWith(ctx, cache, code, imports) == nil {
			if have == "" {
				keepSum(entry)
			}
			return nil
		}
		os.RemoveAll(entry)
	}
	// The cache is a help: without it, for instance on a full disk, all works.
	return m.compileWith(ctx, wazero.NewCompilationCache(), code, imports)
}

const sumSuffix = ".sum"

func (m *Module) compileWith(ctx context.Context, cache wazero.CompilationCache, code []byte, imports map[[2]string]hostFunction) error {
	config := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false).WithCompilationCache(cache)
	r := wazero.NewRuntimeWithConfig(ctx, config)
	err := addHostModules(ctx, r, imports)
	if err == nil {
		m.compiled, err = r.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), code)
	}
	if err != nil {
		r.Close(ctx)
		cache.Close(ctx)
		return err
	}
	m.runtime, m.cache = r, cache
	return nil
}

// prepareCache makes the directory, or checks that nobody else can write machine code
// into it.
func prepareCache(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s has mode %#o: others than its owner must not enter it (chmod 700)", dir, mode)
	}
	return nil
}

// entrySum is a sum over all files of an entry, by name and content.
func entrySum(entry string) (string, error) {
	var all []byte
	err := filepath.WalkDir(entry, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(entry, path)
		sum := hash(b)
		all = append(append(append(all, name...), 0), sum[:]...)
		return err
	})
	if err != nil {
		return "", err
	}
	sum := hash(all)
	return hex.EncodeToString(sum[:]), nil
}

// keepSum writes the sum of a new entry. An entry without one is made again.
func keepSum(entry string) {
	if sum, err := entrySum(entry); err == nil {
		keepFile(entry+sumSuffix, []byte(sum))
	}
}

// keepFile writes a file of the cache, at once or not at all. That it is missing costs no
// more than to make it again.
func keepFile(path string, content []byte) {
	f, err := os.CreateTemp(filepath.Dir(path), "new*")
	if err != nil {
		return
	}
	_, err = f.Write(content)
	if cerr := f.Close(); err != nil || cerr != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}

const meteredSuffix = ".metered"

// metered rewrites a module, or takes what an earlier process made of the same bytes, by the
// same pass and limits. The file begins with the sum of the rest of it and with its name, so
// that one that was cut off, changed or renamed counts as none.
func (h *Host) metered(code []byte, l meter.Limits) (*meter.Result, error) {
	if h.config.CacheDir == "" {
		return h.rewrite(code, l)
	}
	l = l.WithDefaults()
	sum := hash(code)
	name := hash(fmt.Appendf(nil, "%d %+v %x", meter.Version, l, sum))
	path := filepath.Join(h.config.CacheDir, hex.EncodeToString(name[:])+meteredSuffix)
	if r := readMetered(path, name, code, l.Limits); r != nil {
		return r, nil
	}
	r, err := h.rewrite(code, l)
	if err != nil {
		return nil, err
	}
	stats, err := json.Marshal(r.Stats)
	if err != nil {
		panic("udf: numbers cannot be written: " + err.Error())
	}
	rest := binary.LittleEndian.AppendUint32(name[:], uint32(len(stats)))
	rest = append(append(rest, stats...), r.Wasm...)
	sum = hash(rest)
	keepFile(path, append(sum[:], rest...))
	return r, nil
}

// readMetered is what a file of the cache holds, nil when it is not good.
func readMetered(path string, name [32]byte, code []byte, l wasm.Limits) *meter.Result {
	b, err := os.ReadFile(path)
	const head = 32 + 32 + 4
	if err != nil || len(b) < head || hash(b[32:]) != [32]byte(b) || name != [32]byte(b[32:]) {
		return nil
	}
	n := binary.LittleEndian.Uint32(b[64:])
	if uint64(n) > uint64(len(b)-head) {
		return nil
	}
	r := &meter.Result{Wasm: b[head+n:]}
	if json.Unmarshal(b[head:head+n], &r.Stats) != nil {
		return nil
	}
	if r.Module, err = wasm.Decode(code, l); err != nil {
		return nil
	}
	return r
}
