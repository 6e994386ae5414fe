package vector

// FixedBytes are the values of a column of a fixed-width kind as they lie in memory, for
// code that moves values of any such kind.
func (v *Vector) FixedBytes() []byte { return as[byte](v.fixed, v.n*v.kind.Width()) }
