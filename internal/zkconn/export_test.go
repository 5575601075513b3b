package zkconn

// What the tests in package zkconn_test need from inside. Those tests can't be
// in this package, because they start servers with the harness, which imports
// this package.
const (
	MaxRequest       = maxRequest
	OpcodeMulti      = opcodeMulti
	OpcodeSetWatches = opcodeSetWatches
)

// HasTurn reports whether a multi is the next to be written.
func (w *Writer) HasTurn() bool { return len(w.s.turn) == 1 }
