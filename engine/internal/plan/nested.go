package plan

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// nestedType is an ARRAY, MAP, MULTISET or ROW as declared. A key is NOT NULL.
func nestedType(d *parse.DataType) (sqltype.Type, error) {
	if d.Name == "ROW" {
		fields := make([]sqltype.Column, len(d.Fields))
		seen := map[string]bool{}
		for i, f := range d.Fields {
			t, err := typeOf(f.Type)
			if err != nil {
				return t, err
			}
			if seen[f.Name.Value] {
				return t, errs.New(errs.Invalid, f.Name.At, "the ROW has two fields named %q", f.Name.Value)
			}
			seen[f.Name.Value] = true
			fields[i] = sqltype.Column{Name: f.Name.Value, Type: t}
		}
		return sqltype.RowOf(fields...), nil
	}
	elem, err := typeOf(d.Elem)
	if err != nil {
		return elem, err
	}
	switch d.Name {
	case "ARRAY":
		return sqltype.ArrayOf(elem), nil
	case "MULTISET":
		return sqltype.MultisetOf(elem), nil
	}
	key, err := typeOf(d.Key)
	return sqltype.MapOf(key.Required(), elem), err
}

// row binds ROW(a, b). One value in parentheses is that value.
func (x *exprBinder) row(e *parse.Row) (expr.Expr, error) {
	if len(e.Items) == 1 {
		return x.bind(e.Items[0])
	}
	return x.apply("ROW", e.At, e.Items...)
}

func (x *exprBinder) array(e *parse.Array) (expr.Expr, error) {
	switch {
	case e.Query != nil:
		return nil, unsupported(e.At, "ARRAY of a subquery is")
	case len(e.Items) == 0:
		return nil, errs.New(errs.Type, e.At, "the type of an empty ARRAY is not known").WithHint("CAST(NULL AS ARRAY<..>) has one")
	}
	return x.apply("ARRAY", e.At, e.Items...)
}

func (x *exprBinder) mapOf(e *parse.Map) (expr.Expr, error) {
	if len(e.Keys) == 0 {
		return nil, errs.New(errs.Type, e.At, "the types of an empty MAP are not known").WithHint("CAST(NULL AS MAP<..>) has them")
	}
	var items []parse.Expr
	for i, k := range e.Keys {
		items = append(items, k, e.Values[i])
	}
	return x.apply("MAP", e.At, items...)
}

// index binds a[i] and m['k'], and r[i], which is field i of a row.
func (x *exprBinder) index(e *parse.Index) (expr.Expr, error) {
	args, err := x.bindAll(e.Arg, e.Index)
	if err != nil {
		return nil, err
	}
	if t := args[0].Type(); t.ID == sqltype.Row {
		lit, ok := expr.Fold(args[1]).(*expr.Literal)
		if !ok {
			return nil, errs.New(errs.Type, e.Index.Pos(), "the field of a ROW is a constant, and %s is none", parse.Format(e.Index))
		}
		i, ok := lit.Value.(int64)
		if !ok || i < 1 || int(i) > len(t.Fields) {
			return nil, errs.New(errs.NotFound, e.Index.Pos(), "%s has no field number %s", t.Optional(), parse.Format(e.Index)).WithHint("the first is 1")
		}
		return rowField(args[0], int(i-1), e.At)
	}
	return x.call(function.Item, e.At, args...)
}

func (x *exprBinder) fieldRef(e *parse.FieldRef) (expr.Expr, error) {
	arg, err := x.bind(e.Arg)
	if err != nil {
		return nil, err
	}
	return fieldNamed(arg, e.Field)
}

// path is the field that a name with dots means, if its first parts name a column.
// It is (nil, nil) when they do not.
func (x *exprBinder) path(name parse.Name) (expr.Expr, error) {
	for k := len(name) - 1; k > 0; k-- {
		c, ok := x.prefix(name[:k])
		if !ok {
			continue
		}
		var out expr.Expr = c
		for _, f := range name[k:] {
			var err error
			if out, err = fieldNamed(out, f); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, nil
}

// prefix is the column that the first parts of a name mean.
func (x *exprBinder) prefix(name parse.Name) (*expr.Column, bool) {
	c, err := x.scope.resolve(name)
	if x.outer == nil {
		return c, err == nil
	}
	if err == nil {
		c.Index += len(x.outer.fields)
		return c, true
	}
	c, err = x.outer.resolve(name)
	return c, err == nil
}

func fieldNamed(row expr.Expr, name parse.Ident) (expr.Expr, error) {
	t := row.Type()
	if t.ID != sqltype.Row {
		return nil, errs.New(errs.Type, name.At, "%s is %s, which has no field %q", row, t.Optional(), name.Value).WithHint("only a ROW has fields")
	}
	schema := sqltype.Schema(t.Fields)
	if i := schema.Index(name.Value); i >= 0 {
		return rowField(row, i, name.At)
	}
	err := errs.New(errs.NotFound, name.At, "field %q not found in %s", name.Value, row)
	if hint := errs.DidYouMean(name.Value, schema.Names()); hint != "" {
		return nil, err.WithHint("%s", hint)
	}
	return nil, err.WithHint("it is %s", t.Optional())
}

func rowField(row expr.Expr, i int, pos errs.Position) (expr.Expr, error) {
	at := &expr.Literal{Value: int64(i), T: sqltype.IntType.Required(), At: pos}
	return expr.NewCall(function.MustScalar(function.Field), pos, row, at)
}
