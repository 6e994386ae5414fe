package job

import (
	"encoding/json"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
)

// recordVersion is the version of what a job notes in a checkpoint. A later one is
// refused.
const recordVersion = 1

// record is what a job notes in a checkpoint, beside the state of its operators.
type record struct {
	Version   int    `json:"version"`
	Job       string `json:"job"`
	Statement string `json:"statement"`
	Taken     int64  `json:"taken"` // by the clock of the machine, in milliseconds since 1970
	// Final says that the job is complete: there is nothing to go on with.
	Final bool `json:"final,omitempty"`
	// Savepoint is the id of the savepoint that the job began with, or "".
	Savepoint string `json:"savepoint,omitempty"`

	Operators  []operatorRecord            `json:"operators"` // those with state
	Sources    []sourceRecord              `json:"sources"`
	Sinks      []sinkRecord                `json:"sinks"`
	Watermarks map[string][]exec.Watermark `json:"watermarks"` // by operator and port
}

// operatorRecord says what an operator keeps state of.
type operatorRecord struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	What string `json:"what"`
}

// sourceRecord says how far a source was read.
type sourceRecord struct {
	ID     string        `json:"id"`
	Name   string        `json:"name"`
	What   string        `json:"what"`
	Splits []splitRecord `json:"splits"`
}

type splitRecord struct {
	Split     string         `json:"split"`
	Position  []byte         `json:"position,omitempty"`
	Watermark exec.Watermark `json:"watermark"`
	Finished  bool           `json:"finished,omitempty"`
}

// sinkRecord has what the writers of a sink prepared: it is to be committed, if that
// did not happen.
type sinkRecord struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Handles [][]byte `json:"handles,omitempty"`
}

func (r *record) encode() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic("job: a checkpoint cannot be encoded: " + err.Error())
	}
	return b
}

func decodeRecord(b []byte) (*record, error) {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, errs.New(errs.State, errs.Position{}, "what the job noted in its checkpoint cannot be read: %w", err).
			WithHint("start from a savepoint, or begin without state")
	}
	if r.Version > recordVersion {
		return nil, errs.New(errs.State, errs.Position{}, "the checkpoint has version %d, this program knows versions up to %d", r.Version, recordVersion).
			WithHint("use the program that wrote it, or a later one; nothing was changed")
	}
	return &r, nil
}

// restored is where a job goes on that has taken the checkpoint.
func (r *record) restored(watermarks bool) exec.Restored {
	out := exec.Restored{Splits: map[string]map[string]exec.SplitState{}}
	for _, s := range r.Sources {
		splits := map[string]exec.SplitState{}
		for _, p := range s.Splits {
			if !watermarks {
				p.Watermark = exec.NoWatermark
			}
			splits[p.Split] = exec.SplitState(p)
		}
		out.Splits[s.ID] = splits
	}
	if watermarks {
		out.Watermarks = r.Watermarks
	}
	return out
}

// handles are those of a sink.
func (r *record) handles(sink *exec.Node) [][]byte {
	for _, s := range r.Sinks {
		if s.ID == sink.ID {
			return s.Handles
		}
	}
	return nil
}

// Status says what the directory of a job has.
type Status struct {
	Job, Statement string
	Epoch          uint64
	Now            time.Time // of the job's clock, at the checkpoint
	Taken          time.Time // by the machine's clock
	Complete       bool      // the job has ended, nothing is to be done
	Savepoint      string    // the id of the one that it began with, or ""
	Sources        []SourceStatus
	Version        int // of the state's format
	DiskBytes      int64
	Operators      []state.OperatorInfo
}

// SourceStatus says how far a source was read.
type SourceStatus struct {
	ID, Name                string
	Splits, Begun, Finished int
}

// Inspect says what the directory of a job has that does not run. It changes nothing.
// fs may be nil: the disk.
func Inspect(dir string, fs state.FS) (Status, error) {
	in, err := state.Inspect(dir, fs)
	if err != nil {
		return Status{}, err
	}
	s := Status{Version: in.Version, DiskBytes: in.DiskBytes, Operators: in.Operators}
	if !in.Some {
		return s, nil
	}
	r, err := decodeRecord(in.Checkpoint.Meta)
	if err != nil {
		return s, err
	}
	s.Job, s.Statement, s.Complete, s.Savepoint = r.Job, r.Statement, r.Final, r.Savepoint
	s.Epoch, s.Now, s.Taken = in.Checkpoint.Epoch, time.UnixMilli(in.Checkpoint.Now).UTC(), time.UnixMilli(r.Taken).UTC()
	for _, src := range r.Sources {
		st := SourceStatus{ID: src.ID, Name: src.Name, Splits: len(src.Splits)}
		for _, p := range src.Splits {
			if p.Finished {
				st.Finished++
			} else {
				st.Begun++
			}
		}
		s.Sources = append(s.Sources, st)
	}
	return s, nil
}
