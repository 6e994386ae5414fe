package channel

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// NewReplayable returns an input like NewInput of a program that can send rows again,
// such as one that reads them from a log: no row is lost or counted twice when the query
// goes on after a crash.
//
// The program says with SendPosition where in the log it is, and asks Start where to
// begin. The rows that it sends after a position must be the same each time, in the same
// order.
func NewReplayable(schema sqltype.Schema, mode sqltype.ChangelogMode) *Input {
	in := NewInput(schema, mode)
	in.replays = true
	return in
}

// SendPosition says that all rows up to a position of the program's were sent, and those
// after it come next. The query keeps it with its checkpoints. It is the less work after
// a crash the more often it is called.
func (in *Input) SendPosition(ctx context.Context, position []byte) error {
	if !in.replays {
		return errs.New(errs.Unsupported, errs.Position{}, "a position was sent to an input that cannot be replayed").
			WithHint("make it with channel.NewReplayable")
	}
	return in.send(ctx, message{place: true, position: append([]byte{}, position...)})
}

// Start waits until a query reads the input, and returns the position after which rows
// are to be sent: one that was given to SendPosition, maybe in an earlier process, or nil
// for the beginning.
func (in *Input) Start(ctx context.Context) ([]byte, error) {
	select {
	case <-in.opened:
		return slices.Clone(in.start), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var _ connector.Source = (*Input)(nil)

// Position is the last position of the program's, and how many rows were read since.
func (r *reader) Position() []byte {
	if !r.in.replays {
		return nil
	}
	b := binary.AppendUvarint(nil, uint64(r.since))
	if r.place == nil {
		return append(b, 0)
	}
	return append(append(b, 1), r.place...)
}

// resume begins at a position.
func (r *reader) resume(position []byte) error {
	if position == nil {
		return nil
	}
	since, n := binary.Uvarint(position)
	if n <= 0 || len(position) == n {
		return errs.New(errs.State, errs.Position{}, "a position stored for a channel cannot be read")
	}
	r.since, r.again = int64(since), int64(since)
	if position[n] != 0 {
		r.place = slices.Clone(position[n+1:])
		if r.place == nil {
			r.place = []byte{}
		}
	}
	r.in.start = r.place
	return nil
}
