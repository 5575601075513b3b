package ledger

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Kind is what a [Line] says.
type Kind string

// The kinds of lines.
const (
	JobCreated   Kind = "+job" // or an access request
	BatchCreated Kind = "+batch"
	JobRemoved   Kind = "-job" // by a rollback, or withdrawn by a release
	BatchRemoved Kind = "-batch"
	// HandedOver takes the record out of the legacy queue: from then on its job alone has the work.
	HandedOver Kind = "-record"
)

// Line is one line of an entry. An entry is text, compressed with gzip, and a line is its
// kind and its fields, separated by tabs:
//
//	+job    record's path   path of the job or request   bid or ""   hash   czxid of the record
//	+batch  bid             name below /batch-uuids      how many jobs it should get
//	-job    record's path   path of the job or request
//	-batch  bid
//	-record record's path   path of the job or request   "kept", or "" if there was no record
type Line struct {
	Kind   Kind
	Record string // path of the legacy record
	Job    string // path of its job or request
	Batch  string // bid
	UUID   string // the batch's name below /batch-uuids
	Jobs   int    // how many jobs the batch should get from its run
	Hash   Hash   // of the record
	Czxid  int64  // of the record
	// Kept says that the bytes of a record that was handed over are beside the legacy queue. There
	// are none if the record was gone already.
	Kept bool
}

const kept = "kept"

// Hash is the beginning of the SHA-256 of a record's data.
type Hash [8]byte

// HashOf returns the part of a record's digest that the ledger keeps.
func HashOf(sha256 [32]byte) Hash { return Hash(sha256[:len(Hash{})]) }

// String returns the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// fields are what a line of each kind has after its kind.
var fields = map[Kind]func(*Line) []*string{
	JobCreated:   func(l *Line) []*string { return []*string{&l.Record, &l.Job, &l.Batch} },
	BatchCreated: func(l *Line) []*string { return []*string{&l.Batch, &l.UUID} },
	JobRemoved:   func(l *Line) []*string { return []*string{&l.Record, &l.Job} },
	BatchRemoved: func(l *Line) []*string { return []*string{&l.Batch} },
	HandedOver:   func(l *Line) []*string { return []*string{&l.Record, &l.Job} },
}

// String returns the line as it is written. No path of a znode has a tab or a line's end.
func (l Line) String() string {
	text := []string{string(l.Kind)}
	for _, f := range fields[l.Kind](&l) {
		text = append(text, *f)
	}
	switch l.Kind {
	case JobCreated:
		text = append(text, l.Hash.String(), strconv.FormatInt(l.Czxid, 16))
	case BatchCreated:
		text = append(text, strconv.Itoa(l.Jobs))
	case HandedOver:
		word := ""
		if l.Kept {
			word = kept
		}
		text = append(text, word)
	}
	return strings.Join(text, "\t")
}

func parseLine(text string) (Line, error) {
	words := strings.Split(text, "\t")
	l := Line{Kind: Kind(words[0])}
	of, known := fields[l.Kind]
	if !known {
		return l, fmt.Errorf("unknown kind %.40q", words[0])
	}
	words = words[1:]
	into := of(&l)
	if expected := len(into) + more[l.Kind]; len(words) != expected {
		return l, fmt.Errorf("%d fields in %.200q, expected %d", len(words), text, expected)
	}
	for i := range into {
		*into[i] = words[i]
	}
	if err := l.parseMore(words[len(into):]); err != nil {
		return l, err
	}
	return l, l.validate()
}

// more is how many fields that are no names a line of each kind ends with.
var more = map[Kind]int{JobCreated: 2, BatchCreated: 1, HandedOver: 1}

// parseMore reads these fields.
func (l *Line) parseMore(words []string) (err error) {
	switch l.Kind {
	case JobCreated:
		if err = l.Hash.UnmarshalText([]byte(words[0])); err == nil {
			l.Czxid, err = strconv.ParseInt(words[1], 16, 64)
		}
	case BatchCreated:
		l.Jobs, err = strconv.Atoi(words[0])
	case HandedOver:
		if l.Kept = words[0] == kept; !l.Kept && words[0] != "" {
			err = fmt.Errorf("%.40q, expected %q or nothing", words[0], kept)
		}
	}
	return err
}

// validate refuses names of which no path can be made.
func (l Line) validate() error {
	switch l.Kind {
	case JobCreated, JobRemoved, HandedOver:
		for _, path := range []string{l.Record, l.Job} {
			if znode.ValidatePath(path) != nil {
				return fmt.Errorf("bad path %.200q", path)
			}
		}
	case BatchCreated:
		if strings.Contains(l.UUID, "/") || znode.ValidatePath("/"+l.UUID) != nil || l.UUID == "" {
			return fmt.Errorf("bad name of a batch %.200q", l.UUID)
		}
	}
	if _, isBatch := newqueue.ParseSequenceID(newqueue.BatchPrefix, l.Batch); !isBatch && (l.Batch != "" || l.Kind == BatchCreated) {
		return fmt.Errorf("bad batch %.200q", l.Batch)
	}
	return nil
}

// An Encoder compresses entries. It keeps its buffers from one to the next. The zero value
// is ready.
type Encoder struct {
	buf bytes.Buffer
	gz  *gzip.Writer
}

// Encode returns the data of an entry's znode. The caller owns it.
func (e *Encoder) Encode(lines []Line) []byte {
	e.buf.Reset()
	if e.gz == nil {
		e.gz = gzip.NewWriter(&e.buf)
	} else {
		e.gz.Reset(&e.buf)
	}
	for _, l := range lines {
		io.WriteString(e.gz, l.String())
		io.WriteString(e.gz, "\n")
	}
	e.gz.Close() // a bytes.Buffer takes everything
	return bytes.Clone(e.buf.Bytes())
}

// maxEntry is how long the text of an entry can be. A transaction is smaller.
const maxEntry = 64 << 20

// A decoder decompresses entries. It keeps its buffers from one to the next.
type decoder struct {
	in  bytes.Reader
	gz  *gzip.Reader
	out bytes.Buffer
}

// decode calls each with every line of an entry.
func (d *decoder) decode(data []byte, each func(Line) error) error {
	d.in.Reset(data)
	var err error
	if d.gz == nil {
		d.gz, err = gzip.NewReader(&d.in)
	} else {
		err = d.gz.Reset(&d.in)
	}
	if err != nil {
		return fmt.Errorf("it is not compressed as an entry is: %w", err)
	}
	d.out.Reset()
	n, err := io.Copy(&d.out, io.LimitReader(d.gz, maxEntry+1))
	switch {
	case err != nil:
		return fmt.Errorf("it is not compressed as an entry is: %w", err)
	case n > maxEntry:
		return fmt.Errorf("it is longer than the %d bytes that an entry can have", maxEntry)
	}
	for text := range strings.Lines(d.out.String()) {
		l, err := parseLine(strings.TrimSuffix(text, "\n"))
		if err != nil {
			return err
		}
		if err := each(l); err != nil {
			return err
		}
	}
	return nil
}

// MarshalText is String.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("%.40q is not a hash of %d hexadecimal digits", text, hex.EncodedLen(len(h)))
	}
	_, err := hex.Decode(h[:], text)
	return err
}
