package parse

// Parse reads a script of statements separated by semicolons.
func Parse(sql string) ([]Statement, error) { panic("not written yet") }

// ParseExpr reads one scalar expression.
func ParseExpr(sql string) (Expr, error) { panic("not written yet") }

// ParseType reads one data type.
func ParseType(sql string) (*DataType, error) { panic("not written yet") }

// Format is the expression as SQL.
func Format(e Expr) string { panic("not written yet") }

// QuoteIdent is the name as an identifier of SQL.
func QuoteIdent(name string) string { panic("not written yet") }
