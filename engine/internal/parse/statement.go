package parse

import "github.com/weirdb/weir/engine/errs"

// Statement is one statement of a script.
type Statement interface {
	Node
	// SQL is the statement's text, without the semicolon.
	SQL() string
	statement()
}

// Source is the position and the text of a statement, embedded by all of them.
type Source struct {
	Place
	Text string
}

// SQL is the statement's text.
func (s Source) SQL() string { return s.Text }

// CreateTable is CREATE [TEMPORARY] TABLE.
type CreateTable struct {
	Source
	Temporary   bool
	OrReplace   bool
	IfNotExists bool
	Name        Name
	Columns     []*ColumnDef // only names for CREATE TABLE t (a, b) AS ...
	Watermarks  []*Watermark
	PrimaryKey  *PrimaryKey // nil without one; a column's PRIMARY KEY ends up here too
	PartitionBy []Ident
	Comment     string
	Options     []Option
	Like        *LikeTable // nil without LIKE
	As          *Query     // nil without AS
}

// ColumnKind is the kind of a table's column.
type ColumnKind uint8

// The kinds of columns.
const (
	PhysicalColumn ColumnKind = iota
	MetadataColumn            // METADATA [FROM 'key'] [VIRTUAL]
	ComputedColumn            // AS expr
)

// ColumnDef is a column of CREATE TABLE.
type ColumnDef struct {
	Place
	Name        Ident
	Kind        ColumnKind
	Type        *DataType // nil for a computed column
	MetadataKey string    // "" when it is the column's name
	Virtual     bool
	Expr        Expr // computed only
	Comment     string
}

// Watermark is WATERMARK FOR column AS expr.
type Watermark struct {
	Place
	Column Name
	Expr   Expr
}

// PrimaryKey is [CONSTRAINT name] PRIMARY KEY (columns) [NOT ENFORCED].
type PrimaryKey struct {
	Place
	Name        Ident
	Columns     []Ident
	NotEnforced bool
}

// LikeTable is LIKE table (INCLUDING ALL, ..).
type LikeTable struct {
	Place
	Table Name
	Rules []LikeRule
}

// LikeRule says what LIKE takes over. Mode is INCLUDING, EXCLUDING or
// OVERWRITING; What is ALL, CONSTRAINTS, GENERATED, METADATA, OPTIONS,
// PARTITIONS, DISTRIBUTION or WATERMARKS.
type LikeRule struct {
	Place
	Mode, What string
}

// CreateView is CREATE [TEMPORARY] VIEW and CREATE MATERIALIZED VIEW.
type CreateView struct {
	Source
	Temporary    bool
	Materialized bool
	OrReplace    bool
	IfNotExists  bool
	Name         Name
	Columns      []Ident
	Comment      string
	Options      []Option
	Query        *Query
}

// CreateFunction is CREATE [TEMPORARY] [SYSTEM] FUNCTION.
type CreateFunction struct {
	Source
	Temporary   bool
	System      bool
	OrReplace   bool
	IfNotExists bool
	Name        Name
	Params      []Field   // of a written signature; the name may be zero
	HasParams   bool      // a signature was written, maybe ()
	Returns     *DataType // nil when not written
	Symbol      string
	SymbolAt    errs.Position
	Language    string // upper case; "" when not written
	Using       []Resource
	Options     []Option
}

// Resource is FILE 'x.wasm' in USING.
type Resource struct {
	Place
	Kind string // upper case: FILE, JAR, ARTIFACT
	Path string
}

// CreateTemporalFunction is CREATE TEMPORAL TABLE FUNCTION f AS TABLE t TIME c KEY (k).
type CreateTemporalFunction struct {
	Source
	Temporary   bool
	OrReplace   bool
	IfNotExists bool
	Name        Name
	Table       Name
	Time        Ident
	Key         []Ident
}

// CreateCatalog is CREATE CATALOG.
type CreateCatalog struct {
	Source
	IfNotExists bool
	Name        Ident
	Comment     string
	Options     []Option
}

// CreateDatabase is CREATE DATABASE.
type CreateDatabase struct {
	Source
	IfNotExists bool
	Name        Name
	Comment     string
	Options     []Option
}

// ObjectKind names a kind of catalog object.
type ObjectKind string

// The kinds of objects.
const (
	TableObject            ObjectKind = "TABLE"
	ViewObject             ObjectKind = "VIEW"
	MaterializedViewObject ObjectKind = "MATERIALIZED VIEW"
	FunctionObject         ObjectKind = "FUNCTION"
	DatabaseObject         ObjectKind = "DATABASE"
	CatalogObject          ObjectKind = "CATALOG"
	JobObject              ObjectKind = "JOB"
)

// Drop is DROP of a named object.
type Drop struct {
	Source
	Kind      ObjectKind
	Temporary bool
	System    bool // DROP TEMPORARY SYSTEM FUNCTION
	IfExists  bool
	Name      Name
	Cascade   bool
}

// Alter is ALTER of a named object.
type Alter struct {
	Source
	Kind     ObjectKind // TABLE, VIEW, FUNCTION, DATABASE or CATALOG
	IfExists bool
	Name     Name
	Action   AlterAction
}

// AlterAction is one of the Alter... types below.
type AlterAction interface {
	Node
	alterAction()
}

// AlterRename is RENAME TO name.
type AlterRename struct {
	Place
	To Name
}

// AlterRenameColumn is RENAME old TO new.
type AlterRenameColumn struct {
	Place
	From, To Ident
}

// AlterSet is SET ('key' = 'value', ..).
type AlterSet struct {
	Place
	Options []Option
}

// AlterReset is RESET ('key', ..); the options have no value.
type AlterReset struct {
	Place
	Keys []Option
}

// AlterAdd is ADD or MODIFY of columns, watermark and primary key.
type AlterAdd struct {
	Place
	Modify     bool
	Columns    []AlterColumn
	Watermark  *Watermark
	PrimaryKey *PrimaryKey
}

// AlterColumn is a column of ADD or MODIFY with its place in the table.
type AlterColumn struct {
	Column *ColumnDef
	First  bool
	After  Ident // zero without AFTER
}

// AlterDrop is DROP column(s), PRIMARY KEY or WATERMARK.
type AlterDrop struct {
	Place
	Columns    []Ident
	PrimaryKey bool
	Watermark  bool
}

// AlterQuery is AS query, of a view.
type AlterQuery struct {
	Place
	Query *Query
}

// Insert is INSERT INTO.
type Insert struct {
	Source
	Overwrite  bool
	Table      Name
	Hints      []Hint
	Partition  []Option // PARTITION (c = v, ..): keys are column names
	Columns    []Ident
	Query      *Query
	OnConflict OnConflict
	ConflictAt errs.Position
}

// OnConflict is what INSERT does with a second row of a key.
type OnConflict uint8

// The conflict actions.
const (
	ConflictDefault     OnConflict = iota // not written
	ConflictNothing                       // ON CONFLICT DO NOTHING
	ConflictDeduplicate                   // ON CONFLICT DO DEDUPLICATE
	ConflictError                         // ON CONFLICT DO ERROR
)

// StatementSet is [EXECUTE] STATEMENT SET BEGIN ..; END: its inserts are one job.
type StatementSet struct {
	Source
	Inserts []*Insert
}

// Set is SET 'key' = 'value'; without a key it lists the settings.
type Set struct {
	Source
	Option Option
}

// Reset is RESET 'key'; without a key it resets everything.
type Reset struct {
	Source
	Key   string
	KeyAt errs.Position
}

// ExplainMode is what EXPLAIN shows.
type ExplainMode uint8

// The modes; several may be given, and none is ExplainPlan.
const (
	ExplainChangelog ExplainMode = 1 << iota // CHANGELOG_MODE
	ExplainJSON                              // JSON, JSON_EXECUTION_PLAN
	ExplainAnalyze                           // ANALYZE: figures of the running query
	ExplainCost                              // ESTIMATED_COST
	ExplainAdvice                            // PLAN_ADVICE
	ExplainPlan      ExplainMode = 0
)

// Explain is EXPLAIN [modes] statement, or EXPLAIN ANALYZE 'job'.
type Explain struct {
	Source
	Mode ExplainMode
	Stmt Statement // *Query, *Insert, *StatementSet, ..; nil when Job is there
	Job  string
}

// ShowKind is what SHOW lists.
type ShowKind string

// The things that SHOW lists.
const (
	ShowCatalogs          ShowKind = "CATALOGS"
	ShowDatabases         ShowKind = "DATABASES"
	ShowTables            ShowKind = "TABLES"
	ShowViews             ShowKind = "VIEWS"
	ShowMaterializedViews ShowKind = "MATERIALIZED VIEWS"
	ShowFunctions         ShowKind = "FUNCTIONS"
	ShowColumns           ShowKind = "COLUMNS"
	ShowModules           ShowKind = "MODULES"
	ShowJobs              ShowKind = "JOBS"
	ShowPartitions        ShowKind = "PARTITIONS"
	ShowCreateTable       ShowKind = "CREATE TABLE"
	ShowCreateView        ShowKind = "CREATE VIEW"
	ShowCreateCatalog     ShowKind = "CREATE CATALOG"
	ShowCreateFunction    ShowKind = "CREATE FUNCTION"
	ShowCurrentCatalog    ShowKind = "CURRENT CATALOG"
	ShowCurrentDatabase   ShowKind = "CURRENT DATABASE"
)

// Show is SHOW.
type Show struct {
	Source
	Kind    ShowKind
	User    bool   // SHOW USER FUNCTIONS
	Full    bool   // SHOW FULL MODULES
	Name    Name   // FROM or IN name; the object of SHOW CREATE
	Like    string // pattern
	HasLike bool
	NotLike bool
	ILike   bool
}

// Describe is DESCRIBE or DESC.
type Describe struct {
	Source
	Kind     ObjectKind // TABLE unless CATALOG, DATABASE, FUNCTION or JOB is written
	Extended bool
	Name     Name // a job's is its id
}

// Use is USE database, USE CATALOG name, or USE MODULES a, b.
type Use struct {
	Source
	Catalog bool
	Name    Name
	Modules []Ident
}

// LoadModule is LOAD MODULE name [WITH (..)].
type LoadModule struct {
	Source
	Name    Ident
	Options []Option
}

// UnloadModule is UNLOAD MODULE name.
type UnloadModule struct {
	Source
	Name Ident
}

// JobAction is what a JobControl asks for.
type JobAction string

// The job actions.
const (
	StartJob     JobAction = "START"
	StopJob      JobAction = "STOP"
	SavepointJob JobAction = "SAVEPOINT"
)

// JobControl is START JOB, STOP JOB or SAVEPOINT [JOB] of a running query.
type JobControl struct {
	Source
	Action    JobAction
	Job       string
	JobAt     errs.Position
	Savepoint bool   // STOP JOB .. WITH SAVEPOINT
	Drain     bool   // STOP JOB .. WITH DRAIN
	Path      string // TO 'path' of SAVEPOINT, FROM 'path' of START JOB
	Options   []Option
}

func (*Query) statement()                  {}
func (*CreateTable) statement()            {}
func (*CreateView) statement()             {}
func (*CreateFunction) statement()         {}
func (*CreateTemporalFunction) statement() {}
func (*CreateCatalog) statement()          {}
func (*CreateDatabase) statement()         {}
func (*Drop) statement()                   {}
func (*Alter) statement()                  {}
func (*Insert) statement()                 {}
func (*StatementSet) statement()           {}
func (*Set) statement()                    {}
func (*Reset) statement()                  {}
func (*Explain) statement()                {}
func (*Show) statement()                   {}
func (*Describe) statement()               {}
func (*Use) statement()                    {}
func (*LoadModule) statement()             {}
func (*UnloadModule) statement()           {}
func (*JobControl) statement()             {}

func (*AlterRename) alterAction()       {}
func (*AlterRenameColumn) alterAction() {}
func (*AlterSet) alterAction()          {}
func (*AlterReset) alterAction()        {}
func (*AlterAdd) alterAction()          {}
func (*AlterDrop) alterAction()         {}
func (*AlterQuery) alterAction()        {}
