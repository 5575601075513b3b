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
	JobRemoved   Kind = "-job" // by a rollback
	BatchRemoved Kind = "-batch"
	// RecordRetired is written before retire removes the record from the legacy queue.
	RecordRetired Kind = "-record"
)

// Line is one line of an entry. An entry is text, compressed with gzip, and a line is its
// kind and its fields, separated by tabs:
//
//	+job    record's path   path of the job or request   bid or ""   hash
//	+batch  bid             name below /batch-uuids      how many jobs it should get
//	-job    record's path   path of the job or request
//	-batch  bid
//	-record record's path
type Line struct {
	Kind   Kind
	Record string // path of the legacy record
	Job    string // path of its job or request
	Batch  string // bid
	UUID   string // the batch's name below /batch-uuids
	Jobs   int    // how many jobs the batch should get from its run
	Hash   Hash   // of the record
}

// Hash is the beginning of the SHA-256 of a record's data.
type Hash [8]byte

// HashOf is the part of a record's digest that the ledger keeps.
func HashOf(sha256 [32]byte) Hash { return Hash(sha256[:len(Hash{})]) }

// String is the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// fields are what a line of each kind has after its kind.
var fields = map[Kind]func(*Line) []*string{
	JobCreated:   func(l *Line) []*string { return []*string{&l.Record, &l.Job, &l.Batch} },
	BatchCreated: func(l *Line) []*string { return []*string{&l.Batch, &l.UUID} },
	JobRemoved:   func(l *Line) []*string { return []*string{&l.Record, &l.Job} },
	BatchRemoved: func(l *Line) []*string { return []*string{&l.Batch} },

	RecordRetired: func(l *Line) []*string { return []*string{&l.Record} },
}

// String is the line as it is written. No path of a znode has a tab or a line's end.
func (l Line) String() string {
	text := []string{string(l.Kind)}
	for _, f := range fields[l.Kind](&l) {
		text = append(text, *f)
	}
	switch l.Kind {
	case JobCreated:
		text = append(text, l.Hash.String())
	case BatchCreated:
		text = append(text, strconv.Itoa(l.Jobs))
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
	if last := len(words) - 1; last >= 0 && (l.Kind == JobCreated || l.Kind == BatchCreated) {
		var err error
		if l.Kind == JobCreated {
			err = l.Hash.UnmarshalText([]byte(words[last]))
		} else {
			l.Jobs, err = strconv.Atoi(words[last])
		}
		if err != nil {
			return l, err
		}
		words = words[:last]
	}
	into := of(&l)
	if len(into) != len(words) {
		return l, fmt.Errorf("%d fields in %.200q, expected %d", len(words), text, len(into))
	}
	for i, word := range words {
		*into[i] = word
	}
	return l, l.validate()
}

// validate refuses names of which no path can be made.
func (l Line) validate() error {
	switch l.Kind {
	case JobCreated, JobRemoved:
		for _, path := range []string{l.Record, l.Job} {
			if znode.ValidatePath(path) != nil {
				return fmt.Errorf("bad path %.200q", path)
			}
		}
	case RecordRetired:
		if znode.ValidatePath(l.Record) != nil {
			return fmt.Errorf("bad path %.200q", l.Record)
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

// Encode is the data of an entry's znode. The caller owns it.
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
