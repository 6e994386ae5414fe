package connector

// Timed is a Source that knows by itself how far event time is. Its tables may declare
// WATERMARK FOR ts AS SOURCE_WATERMARK(), and then its readers are asked: they are
// TimedReaders.
type Timed interface {
	Source
	// Timed reports whether the source can be asked.
	Timed() bool
}

// TimedReader is a Reader of a Timed source.
type TimedReader interface {
	Reader
	// Watermark is the event time, in milliseconds since 1970, that every row is past
	// which Read has not returned yet; ok is false while nothing is known. It is called
	// after Read, which therefore ends a batch where the watermark rises.
	Watermark() (millis int64, ok bool)
}
