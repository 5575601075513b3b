package zkconn

// The tests in package zkconn_test need these from this package. They can't be in this
// package themselves, because they start servers with the harness, which imports it.
const (
	MaxRequest       = maxRequest
	OpcodeMulti      = opcodeMulti
	OpcodeSetWatches = opcodeSetWatches
)

// HasTurn reports whether a multi is the next to be written.
func (w *Writer) HasTurn() bool { return len(w.s.turn) == 1 }
