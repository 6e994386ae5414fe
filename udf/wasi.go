package udf

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/weirdb/weir/abi"
)

// errno is a result of a WASI function.
type errno = uint64

const (
	wasiOK       errno = 0
	wasiBadFile  errno = 8
	wasiFault    errno = 21
	wasiInvalid  errno = 28
	wasiNoSystem errno = 52
	wasiNoSeek   errno = 70
)

const (
	// maxVectors is the most buffers of one read or write, and events of one poll.
	maxVectors = 1024
	// maxRandom is the most random bytes of one call.
	maxRandom = 64 << 10
)

// wasiSignatures are all functions of wasi_snapshot_preview1, so that modules of any
// toolchain can be loaded: parameters, i for i32 and I for i64. But for proc_exit all
// return an i32. Functions without an entry in wasiFunctions do nothing and say so.
func wasiSignatures() map[string]string {
	return map[string]string{
		"args_get": "ii", "args_sizes_get": "ii", "environ_get": "ii", "environ_sizes_get": "ii",
		"clock_res_get": "ii", "clock_time_get": "iIi", "fd_advise": "iIIi", "fd_allocate": "iII", "fd_close": "i",
		"fd_datasync": "i", "fd_fdstat_get": "ii", "fd_fdstat_set_flags": "ii", "fd_fdstat_set_rights": "iII",
		"fd_filestat_get": "ii", "fd_filestat_set_size": "iI", "fd_filestat_set_times": "iIIi", "fd_pread": "iiiIi",
		"fd_prestat_get": "ii", "fd_prestat_dir_name": "iii", "fd_pwrite": "iiiIi", "fd_read": "iiii",
		"fd_readdir": "iiiIi", "fd_renumber": "ii", "fd_seek": "iIii", "fd_sync": "i", "fd_tell": "ii", "fd_write": "iiii",
		"path_create_directory": "iii", "path_filestat_get": "iiiii", "path_filestat_set_times": "iiiiIIi",
		"path_link": "iiiiiii", "path_open": "iiiiiIIii", "path_readlink": "iiiiii", "path_remove_directory": "iii",
		"path_rename": "iiiiii", "path_symlink": "iiiii", "path_unlink_file": "iii", "poll_oneoff": "iiii",
		"proc_exit": "i", "proc_raise": "i", "random_get": "ii", "sched_yield": "",
		"sock_accept": "iii", "sock_recv": "iiiiii", "sock_send": "iiiii", "sock_shutdown": "ii",
	}
}

// wasiFunctions are those that do something. They get their parameters and work on the
// memory of the instance; what they take in time they charge in fuel.
func wasiFunctions() map[string]func(i *Instance, p []uint64) errno {
	none := func(i *Instance, p []uint64) errno { // no arguments, no environment
		return i.putWords(p, 0, 0)
	}
	return map[string]func(*Instance, []uint64) errno{
		"args_get":          func(*Instance, []uint64) errno { return wasiOK },
		"environ_get":       func(*Instance, []uint64) errno { return wasiOK },
		"args_sizes_get":    none,
		"environ_sizes_get": none,
		"sched_yield":       func(*Instance, []uint64) errno { return wasiOK },
		"clock_res_get":     func(i *Instance, p []uint64) errno { return i.putLong(p[1], 1_000_000) },
		"clock_time_get":    (*Instance).wasiTime,
		"random_get":        (*Instance).wasiRandom,
		"poll_oneoff":       (*Instance).wasiPoll,
		"proc_exit":         func(_ *Instance, p []uint64) errno { panic(exit(uint32(p[0]))) },
		"proc_raise":        func(_ *Instance, p []uint64) errno { panic(exit(uint32(p[0]))) },
		"fd_write":          (*Instance).wasiWrite,
		"fd_read":           (*Instance).wasiRead,
		"fd_fdstat_get":     (*Instance).wasiStat,
		"fd_close":          standardOnly,
		"fd_prestat_get":    func(*Instance, []uint64) errno { return wasiBadFile },
		"fd_seek": func(i *Instance, p []uint64) errno {
			if e := standardOnly(i, p); e != wasiOK {
				return e
			}
			return wasiNoSeek
		},
		"fd_fdstat_set_flags": standardOnly,
	}
}

// standardOnly accepts standard input, output and error: there are no other files.
func standardOnly(_ *Instance, p []uint64) errno {
	if uint32(p[0]) > 2 {
		return wasiBadFile
	}
	return wasiOK
}

// guest is [at, at+n) of the guest's memory, or false.
func (i *Instance) guest(at uint64, n uint64) ([]byte, bool) {
	mem, at := i.mem.bytes(), uint64(uint32(at))
	if at+n > uint64(len(mem)) {
		return nil, false
	}
	return mem[at : at+n], true
}

func (i *Instance) putWords(at []uint64, values ...uint32) errno {
	for k, v := range values {
		b, ok := i.guest(at[k], 4)
		if !ok {
			return wasiFault
		}
		binary.LittleEndian.PutUint32(b, v)
	}
	return wasiOK
}

func (i *Instance) putLong(at uint64, v uint64) errno {
	b, ok := i.guest(at, 8)
	if !ok {
		return wasiFault
	}
	binary.LittleEndian.PutUint64(b, v)
	return wasiOK
}

// wasiRandom gives bytes of a stream that the call's seed determines.
func (i *Instance) wasiRandom(p []uint64) errno {
	n := uint64(uint32(p[1]))
	if n > maxRandom {
		return wasiInvalid
	}
	b, ok := i.guest(p[0], n)
	if !ok {
		return wasiFault
	}
	i.charge(int64(n))
	if i.random == nil {
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], i.seed)
		i.random = rand.NewChaCha8(seed)
	}
	i.random.Read(b) // never fails
	return wasiOK
}

// wasiPoll reports every subscription at once: nobody sleeps.
func (i *Instance) wasiPoll(p []uint64) errno {
	const subscription, event = 48, 32
	n := uint64(uint32(p[2]))
	if n == 0 || n > maxVectors {
		return wasiInvalid
	}
	i.charge(int64(n) * 50)
	in, ok := i.guest(p[0], n*subscription)
	out, ok2 := i.guest(p[1], n*event)
	if !ok || !ok2 {
		return wasiFault
	}
	for k := range n {
		var e [event]byte
		copy(e[:8], in[k*subscription:]) // the caller's mark
		e[10] = in[k*subscription+8]     // what was waited for
		copy(out[k*event:], e[:])
	}
	return i.putWords(p[3:], uint32(n))
}

// wasiWrite logs what goes to standard output and error.
func (i *Instance) wasiWrite(p []uint64) errno {
	fd, n := uint32(p[0]), uint64(uint32(p[2]))
	if fd != 1 && fd != 2 {
		return wasiBadFile
	}
	if n > maxVectors {
		return wasiInvalid
	}
	i.charge(int64(n) * 50)
	vectors, ok := i.guest(p[1], n*8)
	if !ok {
		return wasiFault
	}
	total := uint64(0)
	for k := range n {
		at, size := binary.LittleEndian.Uint32(vectors[k*8:]), binary.LittleEndian.Uint32(vectors[k*8+4:])
		b, ok := i.guest(uint64(at), uint64(size))
		if !ok {
			return wasiFault
		}
		level := abi.Info
		if fd == 2 {
			level = abi.Warn
		}
		i.log.write(i, level, b)
		total += uint64(size)
	}
	return i.putWords(p[3:], uint32(min(total, 1<<32-1)))
}

// wasiRead finds the end of standard input.
func (i *Instance) wasiRead(p []uint64) errno {
	if uint32(p[0]) != 0 {
		return wasiBadFile
	}
	return i.putWords(p[3:], 0)
}

// wasiStat says that the standard files are terminals, which can be read and written.
func (i *Instance) wasiStat(p []uint64) errno {
	if e := standardOnly(i, p); e != wasiOK {
		return e
	}
	b, ok := i.guest(p[1], 24)
	if !ok {
		return wasiFault
	}
	clear(b)
	b[0] = 2    // a character device
	b[8] = 0x42 // may be read and written
	return wasiOK
}

// wasiTime is what all clocks show. It is never 0, which Go's runtime takes for a
// time that was not set when it collects garbage.
func (i *Instance) wasiTime(p []uint64) errno {
	return i.putLong(p[2], max(1, uint64(i.now)*1_000_000))
}
