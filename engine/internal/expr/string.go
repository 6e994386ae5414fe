package expr

func (e *Column) String() string    { return e.Name }
func (e *Literal) String() string   { return "?" }
func (e *Call) String() string      { return e.Func.Name }
func (e *Cast) String() string      { return "CAST" }
func (e *Case) String() string      { return "CASE" }
func (a *Aggregate) String() string { return a.Func.Name }
