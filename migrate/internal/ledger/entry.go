package ledger

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/migration"
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

// Line is one line of an entry. An entry is text, compressed with gzip, and a line has these
// fields in this order, separated by tabs. A kind of line leaves those empty or 0 that say nothing of it.
type Line struct {
	Kind   Kind
	Record string         // path of the legacy record
	Job    string         // path of its job or request
	Batch  string         // bid; "" for an access request
	Hash   migration.Hash // of the record; of the bytes that are kept, if it was handed over
	Czxid  int64          // of the record, in hexadecimal digits
	UUID   string         // the batch's name below /batch-uuids
	Jobs   int            // how many jobs the batch should get from its run
	// Kept says that the bytes of a record that was handed over are beside the legacy queue. There
	// are none if the record was gone already.
	Kept bool
	Key  migration.Hash // of what the services know the record's work by; zero if it has nothing
}

// HashOf returns the part of a record's digest that the ledger keeps.
func HashOf(sha256 [32]byte) migration.Hash { return migration.Hash(sha256[:len(migration.Hash{})]) }

// HashOfKey is the same of a record's key; zero if it has none.
func HashOfKey(key rules.Key) (h migration.Hash) {
	if key != "" {
		h = HashOf(sha256.Sum256([]byte(key)))
	}
	return h
}

// String returns the line as it is written. No path of a znode has a tab or a line's end.
func (l Line) String() string {
	return strings.Join([]string{string(l.Kind), l.Record, l.Job, l.Batch, l.Hash.String(), strconv.FormatInt(l.Czxid, 16), l.UUID, strconv.Itoa(l.Jobs), strconv.FormatBool(l.Kept), l.Key.String()}, "\t")
}

// Ledgers of format 5 have no keys.
const columns, columnsWithoutKey = 10, 9

func parseLine(text string) (Line, error) {
	words := strings.Split(text, "\t")
	if len(words) == columnsWithoutKey {
		words = append(words, migration.Hash{}.String())
	}
	if len(words) != columns {
		return Line{}, fmt.Errorf("%d fields in %.200q, expected %d", len(words), text, columns)
	}
	l := Line{Kind: Kind(words[0]), Record: words[1], Job: words[2], Batch: words[3], UUID: words[6]}
	err := l.Hash.UnmarshalText([]byte(words[4]))
	if err != nil {
		return l, err
	}
	if l.Czxid, err = strconv.ParseInt(words[5], 16, 64); err != nil {
		return l, err
	}
	if l.Jobs, err = strconv.Atoi(words[7]); err != nil {
		return l, err
	}
	if l.Kept, err = strconv.ParseBool(words[8]); err != nil {
		return l, err
	}
	if err = l.Key.UnmarshalText([]byte(words[9])); err != nil {
		return l, err
	}
	return l, l.validate()
}

func (l Line) validate() error {
	isBatch := false
	switch l.Kind {
	case JobCreated, JobRemoved, HandedOver:
		for _, path := range []string{l.Record, l.Job} {
			if znode.ValidatePath(path) != nil {
				return fmt.Errorf("bad path %.200q", path)
			}
		}
	case BatchCreated:
		isBatch = true
		if strings.Contains(l.UUID, "/") || znode.ValidatePath("/"+l.UUID) != nil || l.UUID == "" {
			return fmt.Errorf("bad name of a batch %.200q", l.UUID)
		}
	case BatchRemoved:
		isBatch = true
	default:
		return fmt.Errorf("unknown kind %.40q", l.Kind)
	}
	if _, is := newqueue.ParseSequenceID(newqueue.BatchPrefix, l.Batch); !is && (isBatch || l.Batch != "") {
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

func decode(data []byte, each func(Line) error) error {
	var lines []byte
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		lines, err = io.ReadAll(io.LimitReader(gz, maxEntry+1))
	}
	switch {
	case err != nil:
		return fmt.Errorf("it is not compressed as an entry is: %w", err)
	case len(lines) > maxEntry:
		return fmt.Errorf("it is longer than the %d bytes that an entry can have", maxEntry)
	}
	for text := range strings.Lines(string(lines)) {
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
