package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// source is the table as it is when it is read: by one statement, in the order of its
// primary key if one was declared.
type source struct{ *table }

func (source) Mode() sqltype.ChangelogMode { return sqltype.AppendMode }
func (source) Bounded() bool               { return true }

// Replayable is true of tables with a primary key: reading goes on behind the key that was
// read last. Rows that were changed meanwhile come as they are then.
func (s source) Replayable() bool { return len(s.key) > 0 && s.ordered() }

// ordered reports whether the key's values can be kept as text.
func (s source) ordered() bool {
	for _, c := range s.key {
		if t := s.schema[c].Type; t.IsBinary() || t.IsApprox() || t.ID == sqltype.Boolean {
			return false
		}
	}
	return true
}

// Splits finds out whether the table is there.
func (s source) Splits(ctx context.Context) ([]connector.Split, error) {
	db, err := s.open()
	if err != nil {
		return nil, err
	}
	err = s.check(ctx, db, s.scanned(nil))
	_ = db.Close() // nothing is left in it
	if err != nil {
		return nil, err
	}
	return []connector.Split{{ID: s.name}}, nil
}

func (s source) scanned(cols []int) []int { return connector.Scan{Columns: cols}.Of(len(s.schema)) }

// Open begins the statement.
func (s source) Open(ctx context.Context, _ connector.Split, scan connector.Scan, position []byte) (connector.Reader, error) {
	r := &reader{table: s.table, cols: scan.Of(len(s.schema)), position: position}
	read := r.cols
	if s.Replayable() {
		for _, c := range s.key {
			r.key = append(r.key, len(read))
			read = append(read[:len(read):len(read)], c)
		}
	}
	r.scan = s.scanner(read)
	query, args := "SELECT "+s.list(read)+" FROM "+s.from, []any(nil)
	if len(r.key) > 0 {
		if position != nil {
			after, err := s.after(position)
			if err != nil {
				return nil, err
			}
			query, args = query+" WHERE "+s.behind(), after
		}
		query += " ORDER BY " + s.list(s.key)
	}
	db, err := s.open()
	if err != nil {
		return nil, err
	}
	r.db = db
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, r.cancel)
	defer stop()
	if r.rows, err = db.QueryContext(r.ctx, query, args...); err != nil {
		return nil, errors.Join(s.failed("cannot be read", err), r.Close())
	}
	return r, nil
}

// behind is the condition that a key comes behind the one that the arguments have.
func (s source) behind() string {
	places := make([]string, len(s.key))
	for i := range places {
		places[i] = s.dialect.Parameter(i + 1)
	}
	if len(places) == 1 {
		return s.list(s.key) + " > " + places[0]
	}
	return "(" + s.list(s.key) + ") > (" + strings.Join(places, ", ") + ")"
}

// after are the arguments of behind.
func (s source) after(position []byte) ([]any, error) {
	var texts []string
	if err := json.Unmarshal(position, &texts); err != nil || len(texts) != len(s.key) {
		return nil, errs.New(errs.State, s.pos, "the position stored for table %s cannot be read", s.name)
	}
	out := make([]any, len(texts))
	for i, text := range texts {
		c := vector.NewColumnBuilder(vector.NewPool(), s.schema[s.key[i]].Type.Kind())
		if !sqltype.AppendParsed(c, s.schema[s.key[i]].Type, []byte(text)) {
			return nil, errs.New(errs.State, s.pos, "the position stored for table %s has the key %q", s.name, text)
		}
		v := c.Finish()
		out[i] = argument(v, 0, s.schema[s.key[i]].Type)
		v.Release()
	}
	return out, nil
}

type reader struct {
	*table
	cols     []int // that are wanted
	key      []int // places of the key in what is read, or nil
	scan     *scanner
	db       *sql.DB
	rows     *sql.Rows
	ctx      context.Context
	cancel   context.CancelFunc
	position []byte
	done     bool
}

// Read reads rows until there are enough, or ctx has ended.
func (r *reader) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	if r.done {
		return nil, io.EOF
	}
	b := vector.NewBuilder(p, r.schema.Project(r.cols).Kinds())
	var last row
	for b.Len() < limit && (b.Len() == 0 || ctx.Err() == nil) {
		if !r.rows.Next() {
			r.done = true
			break
		}
		next, err := r.scan.next(r.rows)
		if err == nil {
			err = (&scanner{table: r.table, cols: r.cols}).append(b, next[:len(r.cols)])
		}
		if err != nil {
			b.Discard()
			return nil, err
		}
		last = next
	}
	if r.done {
		if err := r.rows.Err(); err != nil {
			b.Discard()
			return nil, r.failed("cannot be read", err)
		}
	}
	if b.Len() == 0 {
		b.Discard()
		return nil, io.EOF
	}
	r.note(last)
	return b.Finish(), nil
}

// note keeps the key of the last row as the position.
func (r *reader) note(last row) {
	if len(r.key) == 0 {
		return
	}
	texts := make([]string, len(r.key))
	for i, k := range r.key {
		t := r.schema[r.scan.cols[k]].Type
		switch v := last[k].(type) {
		case vector.Dec:
			texts[i] = string(sqltype.AppendDecimal(nil, v, t.Scale))
		case time.Duration:
			texts[i] = clockText(v)
		case time.Time:
			layout := "2006-01-02 15:04:05.999999999"
			if t.ID == sqltype.Date {
				layout = "2006-01-02"
			} else if t.ID == sqltype.TimestampLTZ {
				layout += "Z"
			}
			texts[i] = v.UTC().Format(layout)
		default:
			texts[i] = fmt.Sprint(v)
		}
	}
	r.position, _ = json.Marshal(texts) // texts can be marshaled
}

func (r *reader) Position() []byte { return r.position }

// Close ends the statement, and the connection.
func (r *reader) Close() error {
	r.cancel()
	if r.rows != nil {
		_ = r.rows.Close() // it was ended before its last row
	}
	return r.db.Close()
}
