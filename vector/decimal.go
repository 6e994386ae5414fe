package vector

import "github.com/apache/arrow-go/v18/arrow/decimal128"

// DecFromWords is the decimal of two words, as Dec's HighBits and LowBits give them.
func DecFromWords(high int64, low uint64) Dec { return decimal128.New(high, low) }
