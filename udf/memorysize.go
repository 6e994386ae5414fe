package udf

// Memory is the size of the guest's memory in bytes; it never shrinks. It is 0 for a
// dead instance.
func (i *Instance) Memory() int64 {
	if i.dead || i.mod == nil {
		return 0
	}
	return int64(i.mod.Memory().Size())
}
