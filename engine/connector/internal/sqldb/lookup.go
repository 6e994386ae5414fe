package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// lookupSource is the side of the table that is asked for rows by key.
type lookupSource struct{ *table }

// Takes is true of conditions that databases and the engine see alike. Texts are compared
// by a collation there, which may find more of them equal; times may have more digits of a
// second, and decimals more digits, than were declared.
func (s lookupSource) Takes(f connector.Filter) bool {
	switch t := s.schema[f.Column].Type; {
	case f.Op == connector.IsNull, f.Op == connector.IsNotNull:
		return true
	case t.IsInteger(), t.ID == sqltype.Boolean, t.ID == sqltype.Date:
		return true
	case t.IsTimestamp():
		return t.Precision >= 6
	case t.IsString():
		return f.Op == connector.Equal || f.Op == connector.In
	}
	return false
}

// Open prepares the asking. The database is asked for no row, so that what is missing is
// found before any flows.
func (s lookupSource) Open(ctx context.Context, ask connector.Ask) (connector.Lookup, error) {
	db, err := s.open()
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(s.parallel)
	db.SetMaxIdleConns(s.parallel)
	if err := s.check(ctx, db, ask.Columns); err != nil {
		_ = db.Close() // the first error says why
		return nil, err
	}
	l := &lookup{table: s.table, ask: ask, db: db, statements: map[int]*sql.Stmt{}}
	for _, f := range ask.Filters {
		for _, v := range f.Values {
			l.fixed = append(l.fixed, constant(v))
		}
	}
	return l, nil
}

// lookup asks with statements for numbers of keys that are powers of two, which are
// prepared once each. Several are at work at a time.
type lookup struct {
	*table
	ask        connector.Ask
	db         *sql.DB
	fixed      []any // the constants of the filters
	statements map[int]*sql.Stmt
}

// Lookup asks for the keys, as many at a time as fit a statement.
func (l *lookup) Lookup(ctx context.Context, p *vector.Pool, keys *vector.Batch) (*vector.Batch, error) {
	var parts [][]any // the arguments of each statement
	var sizes []int
	for from := 0; from < keys.Len(); {
		n := min(keys.Len()-from, l.batch)
		size := 1
		for size < n {
			size *= 2
		}
		if size > l.batch {
			size = l.batch
		}
		args := append([]any(nil), l.fixed...)
		for i := range size { // what is too much asks for the last key again
			r := from + min(i, n-1)
			for k, c := range l.ask.Keys {
				args = append(args, argument(keys.Col(k), r, l.schema[c].Type))
			}
		}
		parts, sizes = append(parts, args), append(sizes, size)
		from += n
	}
	rows, err := l.all(ctx, parts, sizes)
	if err != nil {
		return nil, err
	}
	kinds := l.schema.Project(l.ask.Columns).Kinds()
	b := vector.NewBuilder(p, kinds)
	s := l.scanner(l.ask.Columns)
	for _, part := range rows {
		for _, r := range part {
			if err := s.append(b, r); err != nil {
				b.Discard()
				return nil, err
			}
		}
	}
	return b.Finish(), nil
}

// all executes the statements, several at a time, and returns the rows of each.
func (l *lookup) all(ctx context.Context, parts [][]any, sizes []int) ([][]row, error) {
	out, failed := make([][]row, len(parts)), make([]error, len(parts))
	for _, size := range sizes {
		if l.statements[size] == nil {
			s, err := l.db.PrepareContext(ctx, l.statement(size))
			if err != nil {
				return nil, l.failed("cannot be asked", err)
			}
			l.statements[size] = s
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	next := make(chan int, len(parts))
	for i := range parts {
		next <- i
	}
	close(next)
	for range min(l.parallel, len(parts)) {
		group.Go(func() {
			for i := range next {
				if out[i], failed[i] = l.one(ctx, l.statements[sizes[i]], parts[i]); failed[i] != nil {
					cancel()
				}
			}
		})
	}
	group.Wait()
	// The first that failed made the others fail.
	for _, err := range failed {
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return out, errors.Join(failed...)
}

func (l *lookup) one(ctx context.Context, s *sql.Stmt, args []any) ([]row, error) {
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return nil, l.failed("cannot be asked", err)
	}
	defer rows.Close()
	scan := l.scanner(l.ask.Columns)
	var out []row
	for rows.Next() {
		r, err := scan.next(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, l.failed("cannot be asked", err)
	}
	return out, nil
}

// statement is the SELECT for a number of keys.
func (l *lookup) statement(keys int) string {
	var b strings.Builder
	n := 0
	parameter := func() {
		n++
		b.WriteString(l.dialect.Parameter(n))
	}
	b.WriteString("SELECT " + l.list(l.ask.Columns) + " FROM " + l.from + " WHERE ")
	for _, f := range l.ask.Filters {
		b.WriteString(l.dialect.Quote(l.schema[f.Column].Name) + " " + f.Op.String())
		for i := range f.Values {
			switch {
			case f.Op == connector.In && i == 0:
				b.WriteString(" (")
			case i > 0:
				b.WriteString(", ")
			default:
				b.WriteString(" ")
			}
			parameter()
		}
		if f.Op == connector.In {
			b.WriteString(")")
		}
		b.WriteString(" AND ")
	}
	columns := l.list(l.ask.Keys)
	several := len(l.ask.Keys) > 1
	if several {
		columns = "(" + columns + ")"
	}
	b.WriteString(columns + " IN (")
	for i := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		if several {
			b.WriteString("(")
		}
		for k := range l.ask.Keys {
			if k > 0 {
				b.WriteString(", ")
			}
			parameter()
		}
		if several {
			b.WriteString(")")
		}
	}
	b.WriteString(")")
	return b.String()
}

// Close ends the connections.
func (l *lookup) Close() error {
	for _, s := range l.statements {
		_ = s.Close() // so does the database
	}
	return l.db.Close()
}
