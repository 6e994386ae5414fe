package udf

import "time"

// SetClock makes the instance measure time with another clock.
func SetClock(i *Instance, clock func() time.Duration) { i.fuel.clock = clock }
