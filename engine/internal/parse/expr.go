package parse

import "github.com/weirdb/weir/engine/errs"

// Expr is a scalar expression.
type Expr interface {
	Node
	expr()
}

// ColumnRef is a dotted name in an expression: a column, table.column, or a
// field of a row column. The binder tells them apart.
type ColumnRef struct {
	Place
	Name Name
}

// LiteralKind is the kind of a literal.
type LiteralKind uint8

// The kinds of literals and what Text holds.
const (
	NullLiteral         LiteralKind = iota // ""
	BoolLiteral                            // TRUE or FALSE
	IntLiteral                             // digits
	DecimalLiteral                         // digits with a point
	ApproxLiteral                          // with an exponent: 1e3
	StringLiteral                          // the string itself
	BinaryLiteral                          // X'0aff': the hexadecimal digits
	DateLiteral                            // DATE '...': the string
	TimeLiteral                            // TIME '...'
	TimestampLiteral                       // TIMESTAMP '...'
	TimestampLTZLiteral                    // TIMESTAMP_LTZ '...'
)

// Literal is a constant. Numbers have no sign: -1 is Unary.
type Literal struct {
	Place
	Kind LiteralKind
	Text string
}

// Interval is INTERVAL '1:30' HOUR TO MINUTE.
type Interval struct {
	Place
	Negative  bool // INTERVAL -'1' DAY
	Value     string
	From, To  Unit // To is empty for one unit
	Precision int  // of the first unit, DAY(3); 0 when not written
}

// UnaryOp is an operator before its operand.
type UnaryOp string

// The unary operators.
const (
	Not    UnaryOp = "NOT"
	Negate UnaryOp = "-"
	Plus   UnaryOp = "+"
)

// Unary is an operator with one operand.
type Unary struct {
	Place
	Op  UnaryOp
	Arg Expr
}

// BinaryOp is an operator between two operands.
type BinaryOp string

// The binary operators. != is folded into <>, x MOD y into %, <=> into
// IS NOT DISTINCT FROM.
const (
	Add             BinaryOp = "+"
	Subtract        BinaryOp = "-"
	Multiply        BinaryOp = "*"
	Divide          BinaryOp = "/"
	Modulo          BinaryOp = "%"
	Concat          BinaryOp = "||"
	Equal           BinaryOp = "="
	NotEqual        BinaryOp = "<>"
	Less            BinaryOp = "<"
	LessOrEqual     BinaryOp = "<="
	Greater         BinaryOp = ">"
	GreaterOrEqual  BinaryOp = ">="
	DistinctFrom    BinaryOp = "IS DISTINCT FROM"
	NotDistinctFrom BinaryOp = "IS NOT DISTINCT FROM"
)

// Binary is an operator with two operands; its position is the left operand's.
type Binary struct {
	Place
	Op          BinaryOp
	OpAt        errs.Position // of the operator
	Left, Right Expr
}

// LogicOp is AND or OR.
type LogicOp string

// The logic operators.
const (
	And LogicOp = "AND"
	Or  LogicOp = "OR"
)

// Logic is a chain of AND or of OR: a AND b AND c has three operands.
type Logic struct {
	Place
	Op   LogicOp
	Args []Expr
}

// TestKind is what IS asks.
type TestKind string

// The tests.
const (
	IsNull    TestKind = "NULL"
	IsTrue    TestKind = "TRUE"
	IsFalse   TestKind = "FALSE"
	IsUnknown TestKind = "UNKNOWN"
)

// Test is x IS [NOT] NULL, TRUE, FALSE or UNKNOWN.
type Test struct {
	Place
	Arg  Expr
	Not  bool
	Kind TestKind
}

// Between is x [NOT] BETWEEN low AND high.
type Between struct {
	Place
	Arg, Low, High Expr
	Not            bool
	Symmetric      bool
}

// In is x [NOT] IN (list) or IN (query). For a row of values Arg is *Row.
type In struct {
	Place
	Arg   Expr
	Not   bool
	List  []Expr
	Query *Query // nil for a list
}

// Quantified is x op ANY (query) or x op ALL (query); SOME is ANY.
type Quantified struct {
	Place
	Op    BinaryOp
	All   bool
	Arg   Expr
	Query *Query
}

// LikeKind is the kind of pattern.
type LikeKind string

// The kinds of patterns.
const (
	Like    LikeKind = "LIKE"
	ILike   LikeKind = "ILIKE"
	Similar LikeKind = "SIMILAR TO"
	RLike   LikeKind = "RLIKE" // REGEXP too
)

// Match is x [NOT] LIKE pattern [ESCAPE e] and its relatives.
type Match struct {
	Place
	Kind         LikeKind
	Not          bool
	Arg, Pattern Expr
	Escape       Expr // nil without ESCAPE
}

// Exists is EXISTS (query).
type Exists struct {
	Place
	Query *Query
}

// Subquery is a query in parentheses where a value is expected.
type Subquery struct {
	Place
	Query *Query
}

// Case is CASE [operand] WHEN .. THEN .. [ELSE ..] END.
type Case struct {
	Place
	Operand Expr // nil for a searched CASE
	Whens   []When
	Else    Expr // nil without ELSE
}

// When is one branch of a Case.
type When struct {
	Cond, Then Expr
}

// Cast is CAST(x AS t) or TRY_CAST(x AS t).
type Cast struct {
	Place
	Try  bool
	Arg  Expr
	Type *DataType
}

// Call is the call of a scalar, aggregate, window or table function. The forms
// with keywords become plain arguments: EXTRACT(HOUR FROM t) is EXTRACT(HOUR, t)
// with a *Symbol, FLOOR(t TO DAY) is FLOOR(t, DAY), TRIM(BOTH x FROM s) is
// TRIM(BOTH, x, s), POSITION(x IN s) is POSITION(x, s), SUBSTRING(s FROM 1 FOR 2)
// is SUBSTRING(s, 1, 2), OVERLAY(s PLACING t FROM 1 FOR 2) is OVERLAY(s, t, 1, 2).
type Call struct {
	Place
	Name        Name
	NoParens    bool // CURRENT_TIMESTAMP and its like
	Args        []Expr
	Star        bool // COUNT(*)
	Distinct    bool
	OrderBy     []OrderItem // inside the call, or WITHIN GROUP
	Filter      Expr        // FILTER (WHERE ..), or nil
	IgnoreNulls bool
	Over        *WindowSpec // nil for no window function
}

// WindowSpec is what follows OVER or stands in a WINDOW clause.
type WindowSpec struct {
	Place
	Base        Ident // the named window it is or extends; zero without one
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame // nil when not written
}

// FrameUnit is ROWS, RANGE or GROUPS.
type FrameUnit string

// The frame units.
const (
	Rows   FrameUnit = "ROWS"
	Range  FrameUnit = "RANGE"
	Groups FrameUnit = "GROUPS"
)

// Frame is the frame of an OVER window. Without BETWEEN, End is CURRENT ROW.
type Frame struct {
	Place
	Unit       FrameUnit
	Start, End Bound
}

// BoundKind is the kind of a frame's bound.
type BoundKind uint8

// The bounds, in their order along the rows.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

func (k BoundKind) String() string {
	return [...]string{"UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING"}[k]
}

// Bound is one end of a Frame.
type Bound struct {
	Kind   BoundKind
	Offset Expr // Preceding and Following only
}

// Symbol is a keyword as an argument: a unit of time, BOTH, LEADING, ..
type Symbol struct {
	Place
	Name string // upper case
}

// NamedArg is name => value. The clauses of the JSON functions are such arguments
// too: RETURNING has a *TypeArg; ON EMPTY, ON ERROR, ON NULL and WRAPPER have a
// *Symbol with the words before them, or the value of DEFAULT.
type NamedArg struct {
	Place
	Name  Ident
	Value Expr
}

// TableArg is TABLE t, or a query, as an argument of a table function.
type TableArg struct {
	Place
	Table       TableExpr // *TableName or *DerivedTable, or *TableFunction
	PartitionBy []Expr
	OrderBy     []OrderItem
}

// Descriptor is DESCRIPTOR(a, b): columns by name.
type Descriptor struct {
	Place
	Columns []Ident
}

// TypeArg is a type as an argument, as in JSON_VALUE(.. RETURNING INT).
type TypeArg struct {
	Place
	Type *DataType
}

// AtTimeZone is x AT TIME ZONE zone.
type AtTimeZone struct {
	Place
	Arg, Zone Expr
}

// Row is ROW(a, b) or (a, b).
type Row struct {
	Place
	Items []Expr
}

// Array is ARRAY[a, b], or ARRAY(query).
type Array struct {
	Place
	Items []Expr
	Query *Query
}

// Map is MAP[k, v, ..].
type Map struct {
	Place
	Keys, Values []Expr
}

// Index is x[i], of an array, map or row.
type Index struct {
	Place
	Arg, Index Expr
}

// FieldRef is a field of an expression that is no plain name: f(x).a, x[1].a.
type FieldRef struct {
	Place
	Arg   Expr
	Field Ident
}

func (*ColumnRef) expr()  {}
func (*Literal) expr()    {}
func (*Interval) expr()   {}
func (*Unary) expr()      {}
func (*Binary) expr()     {}
func (*Logic) expr()      {}
func (*Test) expr()       {}
func (*Between) expr()    {}
func (*In) expr()         {}
func (*Quantified) expr() {}
func (*Match) expr()      {}
func (*Exists) expr()     {}
func (*Subquery) expr()   {}
func (*Case) expr()       {}
func (*Cast) expr()       {}
func (*Call) expr()       {}
func (*Symbol) expr()     {}
func (*NamedArg) expr()   {}
func (*TableArg) expr()   {}
func (*Descriptor) expr() {}
func (*TypeArg) expr()    {}
func (*AtTimeZone) expr() {}
func (*Row) expr()        {}
func (*Array) expr()      {}
func (*Map) expr()        {}
func (*Index) expr()      {}
func (*FieldRef) expr()   {}
