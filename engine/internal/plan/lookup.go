package plan

import (
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
)

// canLookUp reports whether rows of a table can be asked for by key while a query runs.
func canLookUp(*catalog.Table) bool { return false }

// lookupJoin binds a join FOR SYSTEM_TIME AS OF processing time with a table whose rows
// can be asked for: left is bound already, ref names the table t.
func (b *binder) lookupJoin(j *parse.Join, _ Node, _ *scope, _ *parse.TableName, _ *catalog.Table) (Node, *scope, error) {
	return nil, nil, unsupported(j.At, "a lookup join is")
}
