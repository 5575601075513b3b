package zkconn

// What the tests in package zkconn_test must know of the inside. They are there,
// and not here, because they start servers with the harness, which uses this
// package itself.
const (
	MaxRequest  = maxRequest
	OpcodeMulti = opcodeMulti
)

// HasTurn reports whether a multi is the next to be written.
func (w *Writer) HasTurn() bool { return len(w.s.turn) == 1 }
