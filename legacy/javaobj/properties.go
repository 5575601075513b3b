package javaobj

// Properties is a java.util.Properties as a stream holds it. If two entries have
// the same pointer, they share one object in Java and in the stream.
type Properties struct {
	LoadFactor float32     // Hashtable's; a JDK writes 0.75
	Threshold  int32       // Hashtable's
	Capacity   int32       // Hashtable's number of buckets
	Entries    []Entry     // in stream order, keys distinct
	Defaults   *Properties // nil for none

	// signature is the description of the defaults field, a string that an
	// entry can share. Only the outermost Properties of a stream has one. A
	// Properties that wasn't read from a stream needs none.
	signature *String
}

// Entry is one key and its value.
type Entry struct {
	Key   *String
	Value Value
}

// Value is a [*String], [*Boolean], [*Integer] or [*Long].
type Value interface {
	// size is how many bytes the value takes when it is printed.
	size() int
}

// String is a java.lang.String, as WTF-8.
type String struct{ Text string }

// Boolean is a java.lang.Boolean.
type Boolean struct{ Value bool }

// Integer is a java.lang.Integer.
type Integer struct{ Value int32 }

// Long is a java.lang.Long.
type Long struct{ Value int64 }

const maxDigits = 20 // of a Long, with its sign

func (s *String) size() int { return len(s.Text) }
func (*Boolean) size() int  { return len("false") }
func (*Integer) size() int  { return maxDigits }
func (*Long) size() int     { return maxDigits }

// New returns a Properties without entries. Its load factor, threshold and
// capacity are those that JDK 9 and later write for one with n entries.
func New(n int) *Properties {
	capacity := n*4/3 + n/20 + 3
	if capacity%2 == 0 {
		capacity--
	}
	return &Properties{
		LoadFactor: 0.75,
		Threshold:  int32(capacity * 3 / 4),
		Capacity:   int32(capacity),
		Entries:    make([]Entry, 0, n),
	}
}
