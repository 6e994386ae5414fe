package exec

// Mark ends an epoch on a channel: the rows before it belong to the epoch, those
// after it to the next. Every source sends the marks of all epochs.
type Mark struct {
	Epoch uint64
	// Now is the time of the coordinator's clock when it ended the epoch, in
	// milliseconds since 1970. It is what processing time is from here on.
	Now int64
	// Watermark is the event time that the channel has reached.
	Watermark Watermark
	// Idle says that the channel has nothing to say about event time for now, so
	// that it holds back nobody's watermark.
	Idle bool
	// Checkpoint asks for a checkpoint: readers say where they are, stores are copied,
	// sinks prepare. Its number is the epoch's.
	Checkpoint bool
	// Ended says that no row follows on the channel.
	Ended bool
	// Last says that no epoch follows: the job ends, because all its inputs ended
	// or because it was stopped.
	Last bool
	// Suspended goes with Last: the job will go on from this checkpoint, so sinks
	// prepare it like any other. Otherwise the last one is connector.Final.
	Suspended bool
	// Questions are asked when the epoch's results have left the operators.
	Questions []*Question
}
