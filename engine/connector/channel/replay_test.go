package channel_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

var numbered = sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}, {Name: "name", Type: sqltype.StringType}}

// TestReplay runs a program that sends numbers, from where the query begins on, some at
// a time, and says now and then how far it is.
func TestReplay(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		var programs sync.WaitGroup
		count := 1 + r.IntN(60)
		n := connectortest.CheckPositions(t, seed, numbered, func(scan connector.Scan, position []byte) (connector.Reader, error) {
			in := channel.NewReplayable(numbered, sqltype.AppendMode)
			reader, err := in.Open(ctx, connector.Split{}, scan, position)
			if err != nil {
				return nil, err
			}
			seed := r.Uint64()
			programs.Go(func() {
				r := rand.New(rand.NewPCG(seed, 8)) // another cut each time
				begin, err := in.Start(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				at, _ := binary.Uvarint(begin)
				for i := int(at); i < count && err == nil; {
					var rows []channel.Row
					for range min(1+r.IntN(5), count-i) {
						rows = append(rows, channel.Row{Values: []any{int64(i), fmt.Sprint("row ", i)}})
						i++
					}
					if err = in.Send(ctx, rows...); err == nil && r.IntN(3) == 0 {
						err = in.SendPosition(ctx, binary.AppendUvarint(nil, uint64(i)))
					}
				}
				if err != nil && errs.CodeOf(err) != errs.Canceled {
					t.Error(err)
				}
				in.Close()
			})
			return reader, nil
		})
		programs.Wait()
		if n != count {
			t.Errorf("seed %d: %d rows, not %d", seed, n, count)
		}
	}
}

func TestReplayable(t *testing.T) {
	t.Parallel()
	once, again := channel.NewInput(numbered, sqltype.AppendMode), channel.NewReplayable(numbered, sqltype.AppendMode)
	if once.Replayable() || !again.Replayable() {
		t.Error("only an input with positions can be replayed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := once.SendPosition(ctx, []byte{1}); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("a position for nobody: %v", err)
	}
	cancel()
	if _, err := again.Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("no query reads the input, but it starts: %v", err)
	}
	if _, err := again.Open(t.Context(), connector.Split{}, connector.Scan{}, []byte{0x80}); errs.CodeOf(err) != errs.State {
		t.Errorf("a damaged position: %v", err)
	}
}
