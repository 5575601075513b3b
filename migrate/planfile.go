package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"mrtq/internal/plainjson"
	"mrtq/newqueue"
)

// ErrPlanFile says that a file is not a plan, or was changed since it was saved. The error
// is a [*PlanFileError].
var ErrPlanFile = errors.New("this is not a plan as mrtq saved it")

// PlanFileError says what is wrong with a saved plan, and where.
type PlanFileError struct {
	Kind PlanFileKind
	// Offset is the byte at which it shows. In a file that was cut short, that is its end.
	// It is 0 if a part was changed.
	Offset int64
	// In is the part, the field or the record; "" if none was reached.
	In  string
	Err error // what the JSON reader found, if it found a fault
}

// PlanFileKind is what is wrong with a saved plan.
type PlanFileKind string

// The kinds.
const (
	PlanNone     PlanFileKind = "none"     // it is not a plan
	PlanCut      PlanFileKind = "cut"      // its end is missing
	PlanEdited   PlanFileKind = "edited"   // a part was changed since it was saved
	PlanFollowed PlanFileKind = "followed" // something comes after it
)

// Error says what is wrong, and at which byte or in which part.
func (e *PlanFileError) Error() string {
	switch e.Kind {
	case PlanCut:
		return fmt.Sprintf("%v: it ends at byte %d, in %s: it was cut short", ErrPlanFile, e.Offset, e.In)
	case PlanEdited:
		return fmt.Sprintf("%v: %s changed since", ErrPlanFile, e.In)
	case PlanFollowed:
		return fmt.Sprintf("%v: something follows the plan at byte %d", ErrPlanFile, e.Offset)
	}
	return fmt.Sprintf("%v: at byte %d: %v", ErrPlanFile, e.Offset, e.Err)
}

// Is makes it an [ErrPlanFile].
func (e *PlanFileError) Is(target error) bool { return target == ErrPlanFile }

// Unwrap returns what the JSON reader found, or nil.
func (e *PlanFileError) Unwrap() error { return e.Err }

// Approved is a saved plan that an operator looked at and now carries out.
type Approved struct {
	ID      string
	Source  Pin
	Target  Pin
	Dialect newqueue.Dialect
	// DialectAssumed says that nobody had chosen the dialect yet. Such a plan is refused.
	DialectAssumed bool
	Policies       Policies
	Settings       Settings
	Records        int // how many records it has
}

// ReadApproved reads a saved plan: the JSON of a [Plan] and nothing after it. It computes
// the plan's id again from everything in the file. So it refuses a plan in which anything
// was edited, cut off or added. It keeps only the head of the plan and one item of its
// lists in memory. If the file's content is wrong, the error is a [*PlanFileError].
func ReadApproved(r io.Reader) (Approved, error) {
	f := planFile{in: &countedReader{Reader: r}, digest: newPlanDigest()}
	f.dec = json.NewDecoder(f.in)
	if err := f.read(); err != nil {
		return Approved{}, f.explain(err)
	}
	p := &f.head
	return Approved{ID: p.ID, Source: p.Source, Target: p.Target, Dialect: p.Dialect, DialectAssumed: p.DialectAssumed, Policies: p.Policies, Settings: p.Settings, Records: f.records}, nil
}

// countedReader counts the bytes that were read.
type countedReader struct {
	io.Reader
	n   int64
	err error // any error other than io.EOF
}

func (c *countedReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// planFile reads a saved plan.
type planFile struct {
	in      *countedReader
	dec     *json.Decoder
	digest  *planDigest
	head    Plan
	seals   Seals
	records int
	at      string // what is being read
	buf     []byte
}

// planField is one field of a saved plan.
type planField struct {
	name string
	list bool
}

// planHead and planRest are the fields of a saved plan in their order: those before its
// records, and those after.
var planHead, planRest = planFields()

func planFields() (head, rest []planField) {
	dec := json.NewDecoder(bytes.NewReader(mustJSON(&Plan{})))
	to := &head
	_, _ = dec.Token()
	for dec.More() {
		name, _ := dec.Token()
		var empty json.RawMessage
		_ = dec.Decode(&empty)
		if name == "records" {
			to = &rest
		} else {
			*to = append(*to, planField{name.(string), empty[0] == '['})
		}
	}
	return head, rest
}

func (f *planFile) read() error {
	f.at = "its first line"
	if err := f.delim('{'); err != nil {
		return err
	}
	if err := f.readHead(); err != nil {
		return err
	}
	if err := f.readRecords(); err != nil {
		return err
	}
	if err := f.readRest(); err != nil {
		return err
	}
	if err := f.delim('}'); err != nil {
		return err
	}
	if _, err := f.dec.Token(); !errors.Is(err, io.EOF) {
		return &PlanFileError{Kind: PlanFollowed, Offset: f.dec.InputOffset()}
	}
	return f.compare()
}

// readHead reads what comes before the records.
func (f *planFile) readHead() error {
	text := []byte("{")
	for i, field := range planHead {
		if err := f.field(field.name); err != nil {
			return err
		}
		value, err := f.value()
		if err != nil {
			return err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, mustJSON(field.name)...), ':')
		text = append(text, value...)
	}
	dec := json.NewDecoder(bytes.NewReader(append(text, '}')))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f.head); err != nil {
		return err
	}
	before, _ := f.head.aroundRecords()
	f.digest.add(before)
	f.digest.next()
	return nil
}

// readRecords reads the records one after the other.
func (f *planFile) readRecords() error {
	if err := f.field("records"); err != nil {
		return err
	}
	f.digest.add([]byte(`"records":`))
	err := f.list(func(item []byte) {
		f.records++
		f.at = fmt.Sprintf("its records, after %d of them", f.records)
	})
	f.digest.next()
	return err
}

// readRest reads what comes after the records, the seals at its end.
func (f *planFile) readRest() error {
	for _, field := range planRest {
		if err := f.field(field.name); err != nil {
			return err
		}
		f.digest.add(append(append([]byte(","), mustJSON(field.name)...), ':'))
		if field.list {
			if err := f.list(func([]byte) {}); err != nil {
				return err
			}
			continue
		}
		value, err := f.value()
		if err != nil {
			return err
		}
		if field.name != "seals" {
			f.digest.add(compactJSON(nil, value))
			continue
		}
		if err := json.Unmarshal(value, &f.seals); err != nil {
			return err
		}
		f.digest.add(mustJSON(Seals{}))
	}
	f.digest.add([]byte("}"))
	f.digest.next()
	return nil
}

// compare compares what was read with the seals and the id.
func (f *planFile) compare() error {
	id, seals := f.digest.sum()
	for _, part := range []struct{ name, was, is string }{
		{"its head (the sides, the choices, the settings)", f.seals.Head, seals.Head},
		{"its list of records", f.seals.Records, seals.Records},
		{"what follows its list of records", f.seals.Rest, seals.Rest},
		{"its id", f.head.ID, id},
	} {
		if part.was != part.is {
			return &PlanFileError{Kind: PlanEdited, In: part.name}
		}
	}
	return nil
}

// delim reads one of {}[].
func (f *planFile) delim(want json.Delim) error {
	got, err := f.dec.Token()
	if err == nil && got != want {
		err = f.unexpected(want.String(), got)
	}
	return err
}

// field reads a field's name. It must be name.
func (f *planFile) field(name string) error {
	got, err := f.dec.Token()
	if err == nil && got != name {
		err = f.unexpected(fmt.Sprintf("the field %q", name), got)
	}
	f.at = "its field " + name
	return err
}

func (f *planFile) unexpected(want string, got json.Token) error {
	return &PlanFileError{Kind: PlanNone, Offset: f.dec.InputOffset(), Err: fmt.Errorf("want %s, and there is %q", want, fmt.Sprint(got))}
}

// value reads a whole value. It is valid until the next one is read.
func (f *planFile) value() ([]byte, error) {
	raw := json.RawMessage(f.buf[:0])
	err := f.dec.Decode(&raw)
	f.buf = raw
	return raw, err
}

// list reads and digests a list. It calls seen with each item.
func (f *planFile) list(seen func(item []byte)) error {
	if err := f.delim('['); err != nil {
		return err
	}
	f.digest.add([]byte("["))
	var text []byte
	for first := true; f.dec.More(); first = false {
		item, err := f.value()
		if err != nil {
			return err
		}
		text = text[:0]
		if !first {
			text = append(text, ',')
		}
		text = compactJSON(text, item)
		f.digest.add(text)
		seen(item)
	}
	f.digest.add([]byte("]"))
	return f.delim(']')
}

// explain makes a [*PlanFileError] of the JSON reader's error. An error of reading the
// file stays as it is.
func (f *planFile) explain(err error) error {
	var known *PlanFileError
	var syntax *json.SyntaxError
	switch {
	case f.in.err != nil:
		return f.in.err
	case errors.As(err, &known):
		return err
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return &PlanFileError{Kind: PlanCut, Offset: f.in.n, In: f.at, Err: err}
	case errors.As(err, &syntax):
		return &PlanFileError{Kind: PlanNone, Offset: syntax.Offset, In: f.at, Err: plainjson.Error(err)}
	}
	return &PlanFileError{Kind: PlanNone, Offset: f.dec.InputOffset(), In: f.at, Err: plainjson.Error(err)}
}

// compactJSON adds JSON to dst as [json.Marshal] writes it: without white space, and with
// its way of escaping strings.
func compactJSON(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r':
		case '"':
			end := i + 1
			plain := true
			for ; end < len(text) && text[end] != '"'; end++ {
				switch c := text[end]; {
				case c == '\\':
					plain = false
					end++
				case c == '<' || c == '>' || c == '&' || c >= utf8.RuneSelf:
					plain = false
				}
			}
			dst = appendString(dst, text[i:min(end+1, len(text))], plain)
			i = end
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendString adds a quoted string. If it is plain, it needs no other escaping.
func appendString(dst, quoted []byte, plain bool) []byte {
	var s string
	if plain || json.Unmarshal(quoted, &s) != nil {
		return append(dst, quoted...)
	}
	return append(dst, mustJSON(s)...)
}
