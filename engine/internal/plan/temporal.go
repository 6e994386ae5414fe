package plan

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// asOf is the table of a join FOR SYSTEM_TIME AS OF, or nil.
func asOf(t parse.TableExpr) *parse.TableName {
	if n, ok := t.(*parse.TableName); ok && n.AsOf != nil {
		return n
	}
	return nil
}

// temporalJoin binds a join of which every left row sees the right table as it was at a
// time of the row.
func (b *binder) temporalJoin(j *parse.Join, ref *parse.TableName) (Node, *scope, error) {
	left, ls, err := b.from(j.Left)
	if err != nil {
		return nil, nil, err
	}
	at, err := (&exprBinder{b: b, scope: ls, clause: "FOR SYSTEM_TIME AS OF"}).bind(ref.AsOf)
	if err != nil {
		return nil, nil, err
	}
	time, ok := at.(*expr.Column)
	if !ok {
		return nil, nil, errs.New(errs.Invalid, ref.AsOf.Pos(), "FOR SYSTEM_TIME AS OF takes a time attribute of the left side, not %s", at).
			WithHint("compute it as a column of a table, and declare WATERMARK FOR it")
	}
	if timeAttribute(left, time.Index) == sqltype.Proctime {
		if o, err := b.session.Lookup(ref.Name); err == nil {
			if t, ok := o.(*catalog.Table); ok && canLookUp(t) {
				return b.lookupJoin(j, left, ls, ref, t)
			}
		}
	}
	return nil, nil, unsupported(ref.AsOf.Pos(), "FOR SYSTEM_TIME AS OF (a temporal join) is")
}
