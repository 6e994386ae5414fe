package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// ToChangelog is TO_CHANGELOG: a row for every change of its input, which is never
// taken back. The first column is the code of the change, then come those of the
// input.
type ToChangelog struct {
	unary
	Codes     Codes
	Partition []int // input columns: changes with equal values stay in order
	// Partial says that a deletion shows only Keys, input columns; the others are NULL.
	Partial bool
	Keys    []int
}

// FromChangelog is FROM_CHANGELOG: the changes that the rows of an append-only input
// tell. The column Code says which, the others are the output.
type FromChangelog struct {
	unary
	Codes     Codes
	Code      int
	Partition []int // input columns, as in ToChangelog
}

// Codes are the texts that stand for kinds of changes, in the order in which they
// were written. TO_CHANGELOG leaves out changes without one.
type Codes []OperationCode

// OperationCode is a text that stands for a kind of change.
type OperationCode struct {
	Code string
	Kind vector.RowKind
}

// mode has the kinds that the codes tell.
func (c Codes) mode() sqltype.ChangelogMode {
	var m sqltype.ChangelogMode
	for _, code := range c {
		m = m.With(code.Kind)
	}
	return m
}

func (c Codes) texts() []string {
	out := make([]string, len(c))
	for i, code := range c {
		out[i] = "'" + code.Code + "' " + code.Kind.String()
	}
	return out
}

// kindNames are the words for kinds of changes, in the order of vector.RowKind.
var kindNames = [...]string{"INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE"}

// defaultCodes have the words themselves.
func defaultCodes() Codes {
	var out Codes
	for k, name := range kindNames {
		out = append(out, OperationCode{name, vector.RowKind(k)})
	}
	return out
}

func (*ToChangelog) Op() string   { return "ToChangelog" }
func (*FromChangelog) Op() string { return "FromChangelog" }

func newToChangelog(in Node, column string, codes Codes, partition []int, partial bool, at errs.Position) *ToChangelog {
	n := &ToChangelog{Codes: codes, Partition: partition, Partial: partial}
	n.Input, n.at = in, at
	n.schema = sqltype.Schema{{Name: column, Type: sqltype.StringType.Required()}}
	for i, c := range in.Schema() {
		if c.Type = c.Type.Plain(); partial && !slices.Contains(partition, i) {
			c.Type = c.Type.Optional()
		}
		n.schema = append(n.schema, c)
	}
	return n
}

func newFromChangelog(in Node, code int, codes Codes, partition []int, at errs.Position) *FromChangelog {
	n := &FromChangelog{Code: code, Codes: codes, Partition: partition}
	n.Input, n.at = in, at
	n.schema = slices.Delete(slices.Clone(in.Schema()), code, code+1)
	return n
}

// changelogArgs are the arguments of TO_CHANGELOG and FROM_CHANGELOG.
type changelogArgs struct {
	input     Node
	scope     *scope
	partition []int
	column    parse.Ident
	mapping   *parse.Map
	partial   bool
}

// changelogTable binds TO_CHANGELOG and FROM_CHANGELOG.
func (b *binder) changelogTable(t *parse.TableFunction, name string) (Node, *scope, error) {
	a, err := b.changelogArgs(t, name)
	if err != nil {
		return nil, nil, err
	}
	codes, err := a.codes(name)
	if err != nil {
		return nil, nil, err
	}
	var n Node
	if name == "TO_CHANGELOG" {
		if n, err = a.to(codes, t.At); err != nil {
			return nil, nil, err
		}
	} else if n, err = a.from(codes, t.At); err != nil {
		return nil, nil, err
	}
	return b.named(n, tableRef{pos: t.At}, t.Alias)
}

// to plans TO_CHANGELOG: the columns to partition by come first, then the code, then
// the others.
func (a *changelogArgs) to(codes Codes, at errs.Position) (Node, error) {
	if i := slices.IndexFunc(a.scope.fields, func(f field) bool { return f.name == a.column.Value }); i >= 0 {
		return nil, errs.New(errs.Ambiguous, a.column.At, "the input of TO_CHANGELOG has a column %q already", a.column.Value).
			WithHint("name the column of the codes with op => DESCRIPTOR(name)")
	}
	n := newToChangelog(a.input, a.column.Value, codes, a.partition, a.partial, at)
	var cols []int
	for _, p := range a.partition {
		cols = append(cols, p+1)
	}
	for i := range n.schema {
		if i == 0 || !slices.Contains(a.partition, i-1) {
			cols = append(cols, i)
		}
	}
	return newProjection(n, cols), nil
}

// from plans FROM_CHANGELOG: the columns to partition by come first, then the others.
func (a *changelogArgs) from(codes Codes, at errs.Position) (Node, error) {
	code, err := a.scope.unqualified(a.column)
	if err != nil {
		return nil, err
	}
	if !code.T.IsString() {
		return nil, errs.New(errs.Type, a.column.At, "the column %q with the codes is %s, not a string", code.Name, code.T.Optional()).WithHint("CAST it in a subquery or view")
	}
	if slices.Contains(a.partition, code.Index) {
		return nil, errs.New(errs.Invalid, a.column.At, "FROM_CHANGELOG cannot partition by the column of the codes")
	}
	var n Node = newFromChangelog(a.input, code.Index, codes, a.partition, at)
	keys := make([]int, len(a.partition))
	for i, p := range a.partition {
		if keys[i] = p; p > code.Index {
			keys[i]--
		}
	}
	if m := codes.mode(); m.Has(updateAfter) && !m.Has(updateBefore) {
		if len(keys) == 0 {
			return nil, errs.New(errs.Changelog, at, "FROM_CHANGELOG has updates without the rows that they replace, and no key").
				WithHint("write input => TABLE t PARTITION BY key, or map a code to UPDATE_BEFORE")
		}
		n = newNormalize(n, keys)
	}
	cols := slices.Clone(keys)
	for i := range n.Schema() {
		if !slices.Contains(keys, i) {
			cols = append(cols, i)
		}
	}
	return newProjection(n, cols), nil
}

func (b *binder) changelogArgs(t *parse.TableFunction, name string) (*changelogArgs, error) {
	a := &changelogArgs{column: parse.Ident{Place: t.Place, Value: "op"}}
	names := []string{"input", "op", "op_mapping"}
	if name == "TO_CHANGELOG" {
		names = append(names, "produces_full_deletes")
	}
	if len(t.Call.Args) > len(names) {
		return nil, errs.New(errs.Invalid, t.At, "%s takes %s at most", name, list(names))
	}
	for i, arg := range t.Call.Args {
		which := names[i]
		if named, ok := arg.(*parse.NamedArg); ok {
			which, arg = strings.ToLower(named.Name.Value), named.Value
			if !slices.Contains(names, which) {
				return nil, hintNames(errs.New(errs.NotFound, named.At, "%s has no argument %q", name, named.Name.Value), which, names, "the arguments are")
			}
		}
		if err := b.changelogArg(a, name, which, arg); err != nil {
			return nil, err
		}
	}
	if a.input == nil {
		return nil, errs.New(errs.Invalid, t.At, "%s has no input", name).WithHint("write %s(input => TABLE t)", name)
	}
	return a, nil
}

func (b *binder) changelogArg(a *changelogArgs, function, which string, arg parse.Expr) (err error) {
	wrong := func(want string) *errs.Error {
		return errs.New(errs.Type, arg.Pos(), "%s of %s is not %s", which, function, want)
	}
	switch which {
	case "input":
		t, ok := arg.(*parse.TableArg)
		if !ok {
			return wrong("a table").WithHint("write TABLE t, or TABLE t PARTITION BY key")
		}
		if len(t.OrderBy) > 0 {
			return unsupported(t.At, "ORDER BY in the input of %s is", function)
		}
		if a.input, a.scope, err = b.from(t.Table); err != nil {
			return err
		}
		x := &exprBinder{b: b, scope: a.scope, clause: "PARTITION BY"}
		for _, p := range t.PartitionBy {
			e, err := x.bind(p)
			if err != nil {
				return err
			}
			c, ok := e.(*expr.Column)
			if !ok {
				return errs.New(errs.Invalid, p.Pos(), "%s partitions by columns, and %s is none", function, parse.Format(p)).WithHint("compute it in a view or subquery")
			}
			a.partition = append(a.partition, c.Index)
		}
	case "op":
		d, ok := arg.(*parse.Descriptor)
		if !ok || len(d.Columns) != 1 {
			return wrong("one column").WithHint("write DESCRIPTOR(name)")
		}
		a.column = d.Columns[0]
	case "op_mapping":
		m, ok := arg.(*parse.Map)
		if !ok {
			return wrong("a map").WithHint("write MAP['INSERT', 'c', 'DELETE', 'd']")
		}
		a.mapping = m
	default:
		e, err := b.constant(arg, which)
		if err != nil {
			return err
		}
		full, ok := expr.Fold(e).(*expr.Literal)
		if !ok {
			return wrong("TRUE or FALSE")
		}
		yes, ok := full.Value.(bool)
		if !ok {
			return wrong("TRUE or FALSE")
		}
		a.partial = !yes
	}
	return nil
}

// codes reads the mapping: several kinds or codes with a comma between them may
// share an entry.
func (a *changelogArgs) codes(function string) (Codes, error) {
	if a.mapping == nil {
		return defaultCodes(), nil
	}
	var out Codes
	for i, key := range a.mapping.Keys {
		left, err := textOf(key)
		if err != nil {
			return nil, err
		}
		right, err := textOf(a.mapping.Values[i])
		if err != nil {
			return nil, err
		}
		for part := range strings.SplitSeq(left, ",") {
			part = strings.TrimSpace(part)
			code, kind, at := right, part, key.Pos()
			if function == "FROM_CHANGELOG" {
				code, kind, at = part, strings.TrimSpace(right), a.mapping.Values[i].Pos()
			}
			k := slices.Index(kindNames[:], strings.ToUpper(kind))
			if k < 0 {
				return nil, hintNames(errs.New(errs.NotFound, at, "there is no kind of change %q", kind), kind, kindNames[:], "the kinds are")
			}
			if slices.ContainsFunc(out, func(o OperationCode) bool {
				return function == "FROM_CHANGELOG" && o.Code == code || function == "TO_CHANGELOG" && o.Kind == vector.RowKind(k)
			}) {
				return nil, errs.New(errs.Invalid, key.Pos(), "op_mapping has %q twice", part)
			}
			out = append(out, OperationCode{code, vector.RowKind(k)})
		}
	}
	return out, nil
}

// textOf is a literal string.
func textOf(e parse.Expr) (string, error) {
	if l, ok := e.(*parse.Literal); ok && l.Kind == parse.StringLiteral {
		return l.Text, nil
	}
	return "", errs.New(errs.Type, e.Pos(), "op_mapping has literal strings, and %s is none", parse.Format(e))
}

// check finds the columns that a partial deletion shows.
func (n *ToChangelog) check() error {
	n.Keys = n.Partition
	if !n.Partial || len(n.Partition) > 0 {
		return nil
	}
	keys := n.Input.Traits().Keys
	if len(keys) == 0 {
		return errs.New(errs.Changelog, n.at, "TO_CHANGELOG without full deletes shows the key of a row that is deleted, and the input has none").
			WithHint("write input => TABLE t PARTITION BY key, or leave out produces_full_deletes")
	}
	n.Keys = keys[0].Columns
	return nil
}

// check refuses an input whose rows are taken back.
func (n *FromChangelog) check() error {
	if !n.Input.Traits().Mode.InsertOnly() {
		return errs.New(errs.Changelog, n.at, "FROM_CHANGELOG reads rows that are only added, but %s", why(n.Input))
	}
	return nil
}

// prune keeps what partitions, and all columns when the key is not known yet.
func (n *ToChangelog) prune(need []int) (Node, []int) {
	if n.Partial {
		n.Input = exactly(n.Input, upTo(len(n.Input.Schema())))
		return n, upTo(len(n.schema))
	}
	var cols []int
	for _, c := range need {
		if c > 0 {
			cols = append(cols, c-1)
		}
	}
	in, have := prune(n.Input, union(cols, n.Partition))
	out := newToChangelog(in, n.schema[0].Name, n.Codes, positions(n.Partition, have), false, n.at)
	have = slices.Clone(have)
	for i := range have {
		have[i]++
	}
	return out, append([]int{0}, have...)
}

// prune keeps the code and what partitions.
func (n *FromChangelog) prune(need []int) (Node, []int) {
	below := func(c int) int {
		if c >= n.Code {
			c++
		}
		return c
	}
	cols := []int{n.Code}
	for _, c := range need {
		cols = append(cols, below(c))
	}
	in, have := prune(n.Input, union(cols, n.Partition))
	code := slices.Index(have, n.Code)
	out := newFromChangelog(in, code, n.Codes, positions(n.Partition, have), n.at)
	var got []int
	for c := range n.schema {
		if slices.Contains(have, below(c)) {
			got = append(got, c)
		}
	}
	return out, got
}

// moved are columns of the input of ToChangelog or FromChangelog as those of the
// output: one column is added or left out in front.
func moved(n Node, cols []int) ([]int, bool) {
	out := slices.Clone(cols)
	for i, c := range cols {
		switch n := n.(type) {
		case *ToChangelog:
			out[i]++
		case *FromChangelog:
			if c == n.Code {
				return nil, false
			}
			if c > n.Code {
				out[i]--
			}
		}
	}
	return out, true
}
