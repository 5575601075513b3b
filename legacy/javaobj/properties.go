package javaobj

// Properties is a java.util.Properties as a stream holds it.
type Properties struct {
	Entries  []Entry     // in stream order, keys distinct
	Defaults *Properties // nil for none
}

// Entry is one key and its value: a string, bool, int32 (Integer) or int64 (Long).
// Strings are WTF-8.
type Entry struct {
	Key   string
	Value any
}
