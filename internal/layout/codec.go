package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// Codec reads the data of znodes.
type Codec struct {
	Name string
	Says string
	// Kinds are the kinds of findings that it can report.
	Kinds []string
	// Composite: the children are part of what it reads.
	Composite bool
	// Values: it reads a JSON value, which a schema and relations can check.
	Values bool
	// Read returns a znode's value. ok is false if it has none.
	Read func(r *CodecInput) (value any, ok bool)
}

// CodecInput is one znode that a codec reads.
type CodecInput struct {
	Map  *Map
	Node *Node
	Path string
	Data []byte

	parts *znode.Tree // of a composite: it and what is below it
	c     *checker
}

// Fault reports that the znode is not as the codec expects.
func (r *CodecInput) Fault(kind, expected, found string) {
	r.c.fault(r.Node, kind, r.Path, expected, found)
}

// The kinds of findings of the codecs.
const (
	NotEmpty      = "not-empty"
	NotJSON       = "not-json"
	CorruptBlob   = "corrupt-blob"
	BlobTooLarge  = "blob-too-large"
	MissingShard  = "missing-shard"
	ShardTooLarge = "shard-too-large"
	BadShard      = "bad-shard"
	NotEphemeral  = "not-ephemeral"
	BadContender  = "bad-contender"
	ReadLock      = "read-lock"
	EmptyBlob     = "empty-blob"
	ShortShard    = "short-shard"
)

var (
	jsonKinds = []string{NotJSON}
	zlibKinds = append([]string{CorruptBlob, BlobTooLarge}, jsonKinds...)
	lockKinds = []string{NotEmpty, NotEphemeral, BadContender}
	blobKinds = []string{EmptyBlob, ShortShard, MissingShard, ShardTooLarge, BadShard, CorruptBlob, BlobTooLarge, NotEmpty}
)

var codecs = []*Codec{
	{Name: "free", Says: "anything: no reader looks at it", Read: readNothing},
	{Name: "none", Says: "nothing: its data is empty", Kinds: []string{NotEmpty}, Read: readNone},
	{Name: "json", Says: "JSON", Kinds: jsonKinds, Values: true, Read: readJSON},
	{Name: "zlib-json", Says: "JSON, compressed with zlib or plain", Kinds: zlibKinds, Values: true, Read: readZlibJSON},
	{Name: "sharded-json", Says: "JSON, compressed with zlib, in shards of at most 1,000,000 bytes", Kinds: slices.Concat(blobKinds, jsonKinds), Composite: true, Values: true, Read: readShardedJSON},
	{Name: "sharded-bytes", Says: "bytes, compressed with zlib, in shards of at most 1,000,000 bytes", Kinds: blobKinds, Composite: true, Read: readShardedBytes},
	{Name: "lock", Says: "a lock: no data, and contenders that are ephemeral and sequential", Kinds: lockKinds, Composite: true, Read: readLock},
	{Name: "write-lock", Says: "a lock without readers: no data, and contenders that are ephemeral and sequential", Kinds: append([]string{ReadLock}, lockKinds...), Composite: true, Read: readWriteLock},
}

func readNothing(*CodecInput) (any, bool) { return nil, false }

func readNone(r *CodecInput) (any, bool) {
	if len(r.Data) > 0 {
		r.Fault(NotEmpty, "no data", show(r.Data))
	}
	return nil, false
}

// readLock checks a lock and its contenders. A bad contender is a fault of the
// lock, because it blocks the contenders behind it.
func readLock(r *CodecInput) (any, bool) {
	readNone(r)
	contender := r.Map.typeNamed("contender")
	for _, name := range r.parts.Children(r.Path) {
		n := r.parts.Get(znode.Join(r.Path, name))
		switch {
		case contender != nil && !contender.matches(name):
			r.Fault(BadContender, "contenders that are "+contender.Says, "contender "+show([]byte(name)))
		case n.Stat.Czxid != 0 && n.Stat.EphemeralOwner == 0:
			r.Fault(NotEphemeral, "contenders that end with their session", "contender "+name+" is persistent and would block for ever")
		}
	}
	return nil, false
}

// readWriteLock checks a lock that only writers take.
func readWriteLock(r *CodecInput) (any, bool) {
	for _, name := range r.parts.Children(r.Path) {
		if strings.Contains(name, "__rlock__") {
			r.Fault(ReadLock, "contenders that want to write", "contender "+show([]byte(name))+" reads")
		}
	}
	return readLock(r)
}

func cutText(text string, most int) string {
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

func show(data []byte) string {
	const most = 60
	switch {
	case data == nil:
		return "no data"
	case len(data) > most:
		return fmt.Sprintf("%q… (%d bytes)", data[:most], len(data))
	}
	return fmt.Sprintf("%q", data)
}

func readJSON(r *CodecInput) (any, bool) { return r.parse(r.Data) }

func (r *CodecInput) parse(data []byte) (any, bool) {
	v, err := parseJSON(data)
	if err != nil && r.Map.python {
		v, err = parseJSON(plainNumbers(data))
	}
	if err != nil {
		r.Fault(NotJSON, "JSON", fmt.Sprintf("%s: %v", show(data), err))
		return nil, false
	}
	return v, true
}

// parseJSON reads one JSON value and nothing after it. Numbers keep their digits.
func parseJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it is empty")
		}
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more data at byte %d", dec.InputOffset())
	}
	return v, nil
}

// stringOrNumber matches a JSON string, or one of the three numbers that Python writes
// and JSON does not have.
var stringOrNumber = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)

func plainNumbers(data []byte) []byte {
	return stringOrNumber.ReplaceAllFunc(data, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return []byte("0")
	})
}
