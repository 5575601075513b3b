package legacy

import (
	"fmt"
	"strings"
)

// Kind says what is wrong with a record (docs/legacy-format.md, "Records that
// can't be decoded"). It is itself an error, so that errors.Is(err, legacy.BadPayload)
// reports whether err is of that kind.
type Kind string

// The kinds, in the order in which they are looked for: a record with several
// faults gets the first.
const (
	BadKey           Kind = "bad-key"           // the znode's name
	TruncatedHeader  Kind = "truncated-header"  // fewer bytes than a header has
	UnknownStatus    Kind = "unknown-status"    // a status byte other than the six
	EmptyPayload     Kind = "empty-payload"     // a header and nothing after it
	BadPayload       Kind = "bad-payload"       // a malformed payload, or a time outside the years 1970 to 9999
	UnsupportedClass Kind = "unsupported-class" // a class or method other than those of a Properties
)

// Error returns the kind's name.
func (k Kind) Error() string { return string(k) }

// noOffset is an [Error]'s Offset when no byte of the data is to blame.
const noOffset = -1

// Error says why one record can't be decoded.
type Error struct {
	Kind   Kind
	Offset int    // byte offset in the znode's data, -1 if there is none
	Class  string // only for UnsupportedClass: the refused CLASS as the record names it, or CLASS.METHOD if a method was refused
	Msg    string // what was found, and what was wanted
	Err    error  // the cause, nil if there is none
}

// Error returns kind, offset and reason on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Kind))
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	if e.Msg != "" {
		b.WriteString(": " + e.Msg)
	}
	if e.Err != nil {
		b.WriteString(": " + harmless(e.Err.Error()))
	}
	return b.String()
}

// harmless makes a library's message safe for a terminal. The message may quote
// the record unchanged and at any length.
func harmless(msg string) string {
	const longest = 200
	var b strings.Builder
	for _, r := range msg {
		if b.Len() >= longest {
			return b.String() + "…"
		}
		if unprintable(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Unwrap returns the cause, which may be nil.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's [Kind].
func (e *Error) Is(target error) bool { return target == error(e.Kind) }

// badPayload is an error at an offset in the payload. [Decode] turns that into
// an offset in the znode's data.
func badPayload(offset int, format string, a ...any) *Error {
	return &Error{Kind: BadPayload, Offset: offset, Msg: fmt.Sprintf(format, a...)}
}

func unsupportedClass(offset int, class, format string, a ...any) *Error {
	return &Error{Kind: UnsupportedClass, Offset: offset, Class: class, Msg: fmt.Sprintf(format, a...)}
}
