package parse

// Query is a complete query expression. It is also the statement that asks for
// its result.
type Query struct {
	Source
	Recursive bool // WITH RECURSIVE
	With      []*CTE
	Body      QueryBody
	OrderBy   []OrderItem
	Limit     Expr   // nil without LIMIT or FETCH
	Offset    Expr   // nil without OFFSET
	Emit      string // text of a trailing EMIT clause, or ""
}

// CTE is one common table expression of WITH.
type CTE struct {
	Place
	Name    Ident
	Columns []Ident
	Query   *Query
}

// QueryBody is *Select, *SetOp, *Values, or *Query for one in parentheses.
type QueryBody interface {
	Node
	queryBody()
}

// Select is one SELECT block.
type Select struct {
	Place
	Hints    []Hint // after the word SELECT
	Distinct bool
	Items    []SelectItem
	From     TableExpr // nil without FROM; a comma is a cross Join with Comma set
	Where    Expr      // nil without WHERE
	Grouped  bool      // there is a GROUP BY (it may be GROUP BY ())
	GroupBy  []GroupItem
	Having   Expr
	Windows  []NamedWindow
	Qualify  Expr
}

// SelectItem is an expression with an optional alias, or * (Expr is nil) with
// an optional qualifier.
type SelectItem struct {
	Place
	Expr      Expr
	Alias     Ident // zero without AS
	Star      bool
	Qualifier Name // t in t.*
}

// GroupKind says what a GroupItem is.
type GroupKind uint8

// The kinds of GroupItem.
const (
	GroupExprs   GroupKind = iota // Exprs: one expression, (a, b), or () without any
	GroupRollup                   // ROLLUP(Items)
	GroupCube                     // CUBE(Items)
	GroupingSets                  // GROUPING SETS(Items)
)

func (k GroupKind) String() string {
	return [...]string{"GROUP BY", "ROLLUP", "CUBE", "GROUPING SETS"}[k]
}

// GroupItem is one item of GROUP BY.
type GroupItem struct {
	Place
	Kind  GroupKind
	Exprs []Expr
	Items []GroupItem
}

// OrderItem is one sort key.
type OrderItem struct {
	Expr  Expr
	Desc  bool
	Nulls NullOrder
}

// NullOrder says where NULL sorts.
type NullOrder uint8

// The null orders. By default NULL is smallest, as in Flink.
const (
	NullsDefault NullOrder = iota
	NullsFirst
	NullsLast
)

func (n NullOrder) String() string { return [...]string{"", "NULLS FIRST", "NULLS LAST"}[n] }

// SetOpKind is UNION, INTERSECT or EXCEPT.
type SetOpKind uint8

// The set operations.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

func (k SetOpKind) String() string { return [...]string{"UNION", "INTERSECT", "EXCEPT"}[k] }

// SetOp combines two queries; a chain is left-deep. Its position is that of the
// word UNION, INTERSECT or EXCEPT. Each side is a *Select,
// *Values, *SetOp or parenthesised *Query.
type SetOp struct {
	Place
	Kind        SetOpKind
	All         bool
	Left, Right QueryBody
}

// Values is VALUES (..), (..). A row without parentheses has one value.
type Values struct {
	Place
	Rows [][]Expr
}

// NamedWindow is w AS (...) in the WINDOW clause.
type NamedWindow struct {
	Name Ident
	Spec *WindowSpec
}

// TableExpr is *TableName, *DerivedTable, *TableFunction, *Unnest or *Join.
type TableExpr interface {
	Node
	tableExpr()
}

// Alias is AS name (columns).
type Alias struct {
	Name    Ident
	Columns []Ident
}

// TableName is a table, view or common table expression by name.
type TableName struct {
	Place
	Name  Name
	Hints []Hint // OPTIONS(...) after the name
	AsOf  Expr   // FOR SYSTEM_TIME AS OF, or nil
	Alias *Alias // nil without one
}

// DerivedTable is a query in FROM (VALUES and TABLE t too).
type DerivedTable struct {
	Place
	Query   *Query
	Lateral bool
	Alias   *Alias
}

// TableFunction is a call in FROM: TABLE(f(..)), LATERAL TABLE(f(..)) or f(..).
// Window table functions are such calls, with *TableArg and *Descriptor among
// their arguments.
type TableFunction struct {
	Place
	Call    *Call
	Lateral bool
	Alias   *Alias
}

// Unnest is [CROSS JOIN] UNNEST(array, ..) [WITH ORDINALITY].
type Unnest struct {
	Place
	Args       []Expr
	Ordinality bool
	Alias      *Alias
}

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds of joins. Semi and anti joins are written as IN and EXISTS.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
)

func (k JoinKind) String() string {
	return [...]string{"INNER JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"}[k]
}

// Join is a join of two table expressions. Exactly one of On, Using and Natural
// is there, except for CROSS JOIN, which has none.
type Join struct {
	Place       // of the word JOIN (or INNER, LEFT, ..), or the comma
	Kind        JoinKind
	Comma       bool // FROM a, b: a CrossJoin
	Natural     bool
	Left, Right TableExpr
	On          Expr
	Using       []Ident
}

func (*Query) queryBody()  {}
func (*Select) queryBody() {}
func (*SetOp) queryBody()  {}
func (*Values) queryBody() {}

func (*TableName) tableExpr()     {}
func (*DerivedTable) tableExpr()  {}
func (*TableFunction) tableExpr() {}
func (*Unnest) tableExpr()        {}
func (*Join) tableExpr()          {}
