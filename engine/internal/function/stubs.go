package function

func arithmetic() []*Scalar       { return nil }
func comparisons() []*Scalar      { return nil }
func logic() []*Scalar            { return nil }
func conditionals() []*Scalar     { return nil }
func mathFunctions() []*Scalar    { return nil }
func stringFunctions() []*Scalar  { return nil }
func patternFunctions() []*Scalar { return nil }
func timeFunctions() []*Scalar    { return nil }
func hashFunctions() []*Scalar    { return nil }
func aggregates() []*Aggregate    { return nil }
