package migrate

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// LedgerPath holds the custody ledger: for each record that a run migrated, which job it
// became. An entry is kept after the job is finished and cleaned up. Below LedgerPath, each run
// has a znode, and below that are the run's shards, numbered from 0.
//
// A run's ledger is a log. Its newest entries, the tail, are in the run's own record,
// which every transaction sets anyway. So an entry is written in the same transaction
// that creates or removes its job. When the tail is full, the transaction moves it into
// a shard.
//
// A shard is flate-compressed, a tail is not. Both have one column after the other,
// because similar values side by side compress well:
//
//	version   1 byte, ledgerVersion
//	n         uvarint, the number of entries
//	kinds     uvarint count, and for each: operation (1 byte), the record's path
//	          up to its sequence, the job's path up to its number (both as a
//	          uvarint length and bytes)
//	kind      n × uvarint, an index into kinds
//	sequence  n × varint, the difference from the entry before
//	number    n × varint, of the job, the difference from one more than the entry before's
//	batch     n × varint, one more than the batch's number and 0 for none, the difference from the entry before
//	hash      n × 4 bytes, the beginning of the record's SHA-256
const LedgerPath = "/migration/ledger"

const ledgerVersion = 1

// tailEntries is how many entries a tail has before they move into a shard. Every
// transaction writes the tail again, so a short one is faster. A long one makes fewer
// shards.
const tailEntries = 256

// ErrLedger says that the custody ledger, or the record of a run, is not as a migration
// left it. See [DamageError].
var ErrLedger = errors.New("the migration's own records are damaged")

// ledgerOp is what happened to an entry's record.
type ledgerOp uint8

const (
	opMigrated     ledgerOp = iota // the record became the job
	opRolledBack                   // a rollback removed the job
	opDeclaredDone                 // the operator declared the record done
	ledgerOps
)

// ledgerEntry is one line of the ledger.
type ledgerEntry struct {
	op     ledgerOp
	record string // path of the legacy record
	root   string // /jobs/JID or /access/QUEUE/QID; "" if it was declared done
	bid    string // "" for an access request
	hash   uint32
}

// ledgerHash is the part of a record's digest that the ledger keeps. It shows whether the
// record has changed since.
func ledgerHash(r Record) uint32 { return binary.BigEndian.Uint32(r.Legacy.SHA256[:]) }

// ledgerOf is the entry for a new job.
func ledgerOf(j job) ledgerEntry {
	return ledgerEntry{op: opMigrated, record: j.rec.Path, root: j.root(), bid: j.bid, hash: ledgerHash(*j.rec)}
}

// ledgerKind is what many entries have in common.
type ledgerKind struct {
	op           ledgerOp
	record, root string // without the numbers at their ends
}

// numbered splits a path into its stem and the number at its end, which ZooKeeper writes
// as %010d. The number of a counter that has wrapped is negative. If it has ten digits,
// its sign is one character more.
func numbered(path string) (stem string, n int64, err error) {
	at := len(path) - sequenceDigits
	if at < 0 {
		return "", 0, fmt.Errorf("%w: %q has no number", ErrLedger, path)
	}
	if at > 0 && path[at-1] == '-' && path[at] != '0' && path[at] != '-' {
		at--
	}
	n, err = strconv.ParseInt(path[at:], 10, 32)
	if err != nil {
		return "", 0, fmt.Errorf("%w: %q has no number", ErrLedger, path)
	}
	return path[:at], n, nil
}

const sequenceDigits = 10

// encodeLedger is the binary form of entries. It fails if an entry has a name that no
// migration gives.
func encodeLedger(entries []ledgerEntry) ([]byte, error) {
	var c ledgerColumns
	if err := c.add(entries); err != nil {
		return nil, err
	}
	return c.encode(), nil
}

// ledgerColumns are entries in their binary form. More can be added.
type ledgerColumns struct {
	n       int
	kinds   []ledgerKind
	index   map[ledgerKind]int
	columns [4][]byte // kind, sequence, number, batch
	hashes  []byte
	// The last entry's numbers.
	sequence, number, batch int64
}

func (c *ledgerColumns) add(entries []ledgerEntry) error {
	for _, e := range entries {
		if err := c.addOne(e); err != nil {
			return err
		}
	}
	return nil
}

func (c *ledgerColumns) addOne(e ledgerEntry) (err error) {
	k := ledgerKind{op: e.op}
	var sequence, number, batch int64
	if k.record, sequence, err = numbered(e.record); err != nil {
		return err
	}
	if e.root != "" {
		if k.root, number, err = numbered(e.root); err != nil {
			return err
		}
	}
	if e.bid != "" {
		if _, batch, err = numbered(e.bid); err != nil {
			return err
		}
		batch++
	}
	i, known := c.index[k]
	if !known {
		if c.index == nil {
			c.index = map[ledgerKind]int{}
		}
		i = len(c.kinds)
		c.index[k], c.kinds = i, append(c.kinds, k)
	}
	c.columns[0] = binary.AppendUvarint(c.columns[0], uint64(i))
	c.columns[1] = binary.AppendVarint(c.columns[1], sequence-c.sequence)
	c.columns[2] = binary.AppendVarint(c.columns[2], number-c.number-1)
	c.columns[3] = binary.AppendVarint(c.columns[3], batch-c.batch)
	c.hashes = binary.BigEndian.AppendUint32(c.hashes, e.hash)
	c.sequence, c.number, c.batch = sequence, number, batch
	c.n++
	return nil
}

func (c *ledgerColumns) encode() []byte {
	out := []byte{ledgerVersion}
	out = binary.AppendUvarint(out, uint64(c.n))
	out = binary.AppendUvarint(out, uint64(len(c.kinds)))
	for _, k := range c.kinds {
		out = append(out, byte(k.op))
		for _, s := range []string{k.record, k.root} {
			out = append(binary.AppendUvarint(out, uint64(len(s))), s...)
		}
	}
	for _, column := range c.columns {
		out = append(out, column...)
	}
	return append(out, c.hashes...)
}

// Bounds for a shard, many times what a run writes. maxShard bounds its bytes when
// unpacked, and the bytes of its entries' names.
const (
	maxShard   = 16 << 20
	maxEntries = 64 * tailEntries
)

// decodeLedger reads what encodeLedger wrote. Errors wrap [ErrLedger].
func decodeLedger(data []byte) ([]ledgerEntry, error) {
	r := &ledgerReader{data: data}
	if v := r.bytes(1); r.err == nil && v[0] != ledgerVersion {
		return nil, fmt.Errorf("%w: format %d, want %d: another version of mrtq wrote it", ErrLedger, v[0], ledgerVersion)
	}
	n := r.count(4) // each entry has at least its hash, 4 bytes
	if n > maxEntries {
		r.fail(fmt.Sprintf("it has %d entries, and a run writes at most %d into one shard", n, tailEntries))
		n = 0
	}
	kinds := make([]ledgerKind, r.count(3))
	for i := range kinds {
		if op := r.bytes(1); r.err == nil {
			kinds[i].op = ledgerOp(op[0])
		}
		kinds[i].record, kinds[i].root = r.text(), r.text()
		if kinds[i].op >= ledgerOps {
			r.fail("unknown operation")
		}
	}
	entries := make([]ledgerEntry, n)
	kind := make([]uint64, n)
	for i := range kind {
		if kind[i] = r.uvarint(); r.err == nil && kind[i] >= uint64(len(kinds)) {
			r.fail("unknown kind")
		}
	}
	sequences, numbers, batches := r.column(n, 0), r.column(n, 1), r.column(n, 0)
	pathBytes := 0
	for i := range entries {
		hash := r.bytes(4)
		if r.err != nil {
			return nil, r.err
		}
		k := kinds[kind[i]]
		if pathBytes += len(k.record) + len(k.root); pathBytes > maxShard {
			r.fail(fmt.Sprintf("its paths take more than %d bytes", maxShard))
			return nil, r.err
		}
		e := &entries[i]
		e.op, e.record, e.hash = k.op, fmt.Sprintf("%s%010d", k.record, sequences[i]), binary.BigEndian.Uint32(hash)
		if k.root != "" {
			e.root = fmt.Sprintf("%s%010d", k.root, numbers[i])
		}
		if batches[i] > 0 {
			e.bid = newqueue.SequenceID(newqueue.BatchPrefix, int32(batches[i]-1))
		}
	}
	if r.err == nil && len(r.data) > 0 {
		r.fail("more bytes than entries")
	}
	return entries, r.err
}

// ledgerReader takes values off the front of data until the first error.
type ledgerReader struct {
	data []byte
	read int
	err  error
}

func (r *ledgerReader) fail(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: at byte %d: %s", ErrLedger, r.read, why)
		r.data = nil
	}
}

func (r *ledgerReader) bytes(n int) []byte {
	if n > len(r.data) {
		r.fail("it ends too soon")
		return make([]byte, min(n, 8))
	}
	b := r.data[:n]
	r.data, r.read = r.data[n:], r.read+n
	return b
}

func (r *ledgerReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.fail("no number")
		return 0
	}
	r.bytes(n)
	return v
}

// count reads the number of things that take at least each bytes.
func (r *ledgerReader) count(each int) int {
	n := r.uvarint()
	if n > uint64(len(r.data)/each) {
		r.fail("it ends too soon")
		return 0
	}
	return int(n)
}

func (r *ledgerReader) text() string { return string(r.bytes(r.count(1))) }

// column reads n values. Each is stored as its difference from the value before plus step.
func (r *ledgerReader) column(n int, step int64) []int64 {
	values := make([]int64, n)
	last := int64(0)
	for i := range values {
		v, width := binary.Varint(r.data)
		if width <= 0 {
			r.fail("no number")
			return values
		}
		r.bytes(width)
		last += v + step
		if last != int64(int32(last)) && last != 1<<31 { // a batch's is one more than its number
			r.fail("a number that no znode has")
		}
		values[i] = last
	}
	return values
}

// packShard is a shard's data.
func packShard(raw []byte) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(raw)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("migrate: writing to memory does not fail: " + err.Error())
	}
	return b.Bytes()
}

// unpackShard reads a shard's data. Errors wrap [ErrLedger].
func unpackShard(data []byte) ([]ledgerEntry, error) {
	z := flate.NewReader(bytes.NewReader(data))
	raw, err := io.ReadAll(io.LimitReader(z, maxShard+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: it can't be unpacked: %w", ErrLedger, err)
	case len(raw) > maxShard:
		return nil, fmt.Errorf("%w: it unpacks to more than %d bytes", ErrLedger, maxShard)
	}
	return decodeLedger(raw)
}

// ledgerSum adds one entry to the digest of a log. The digest does not depend on how the
// entries are spread over shards.
func ledgerSum(before string, e ledgerEntry) string {
	text := make([]byte, 0, 256)
	for _, s := range []string{before, e.record, e.root, e.bid} {
		text = append(binary.AppendUvarint(text, uint64(len(s))), s...)
	}
	text = append(text, byte(e.op))
	text = binary.BigEndian.AppendUint32(text, e.hash)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Ledger is what a run's record says of the run's part of the ledger.
type Ledger struct {
	Entries int `json:"entries"` // in shards and tail
	Shards  int `json:"shards"`  // znodes, numbered from 0
	// Missing are the numbers of shards that a rebuild could not recover.
	Missing []int  `json:"missing,omitempty"`
	Closed  int    `json:"closed"`         // how many shards the run had when it was done, the closing shard included; 0 before
	Sum     string `json:"sum"`            // digest of all entries in order, "" for none
	Tail    []byte `json:"tail,omitempty"` // the newest entries
	// Highest is the highest sequence that the run migrated, by the legacy queue's znode.
	Highest map[string]int32 `json:"highest,omitempty"`
	// Void reports whether everything was rolled back, so that the ledger is being removed.
	Void bool `json:"void,omitempty"`
}

func ledgerPath(run string) string { return znode.Join(LedgerPath, run) }

func shardPath(run string, n int) string {
	return znode.Join(ledgerPath(run), fmt.Sprintf("%0*d", sequenceDigits, n))
}

// ledgerLog is a run's ledger while a migrator adds to it.
type ledgerLog struct {
	run  string
	acl  []znode.ACL // of shards
	tail []ledgerEntry
	// encoded has the first entries of tail, so that each is encoded once, although
	// every transaction writes them all.
	encoded ledgerColumns
}

// decodeTail reads the entries in the run's record itself.
func decodeTail(r Run) ([]ledgerEntry, error) {
	if len(r.Ledger.Tail) == 0 {
		return nil, nil
	}
	entries, err := decodeLedger(r.Ledger.Tail)
	if err != nil {
		return nil, &damaged{r.path(), strings.TrimPrefix(err.Error(), ErrLedger.Error()+": ")}
	}
	return entries, nil
}

// add adds entries to the tail. Whenever the tail has tailEntries, they move into a
// shard; with close, the rest does too. add returns the operations that create these
// shards. Where a shard ends does not depend on the transactions, so an interrupted run
// leaves the same shards as one that was not interrupted.
func (l *ledgerLog) add(led *Ledger, entries []ledgerEntry, close bool) ([]znode.Op, error) {
	for _, e := range entries {
		led.Sum = ledgerSum(led.Sum, e)
	}
	led.noteHighest(entries)
	led.Entries += len(entries)
	l.tail = append(l.tail, entries...)
	var ops []znode.Op
	rest := l.tail
	for len(rest) >= tailEntries || close {
		n := min(tailEntries, len(rest))
		raw, err := encodeLedger(rest[:n])
		if err != nil {
			return nil, err
		}
		ops = append(ops, znode.Op{Kind: znode.OpCreate, Path: shardPath(l.run, led.Shards), Data: packShard(raw), ACL: l.acl})
		led.Shards++
		rest = rest[n:]
		close = close && len(rest) > 0
	}
	if len(ops) > 0 {
		l.restart(slices.Clone(rest))
	}
	led.Tail = nil
	if len(l.tail) == 0 {
		return ops, nil
	}
	if err := l.encoded.add(l.tail[l.encoded.n:]); err != nil {
		return nil, err
	}
	led.Tail = l.encoded.encode()
	return ops, nil
}

// restart continues the log with a tail.
func (l *ledgerLog) restart(tail []ledgerEntry) { l.tail, l.encoded = tail, ledgerColumns{} }

// noteHighest brings Highest up to date. It leaves the old map alone, because other
// copies of the record share it.
func (led *Ledger) noteHighest(entries []ledgerEntry) {
	highest := maps.Clone(led.Highest)
	for _, e := range entries {
		_, n, err := numbered(e.record)
		if err != nil || e.op != opMigrated {
			continue // encodeLedger returns the error
		}
		queue := znode.Parent(e.record)
		if highest == nil {
			highest = map[string]int32{}
		}
		if h, there := highest[queue]; !there || uint32(n) > uint32(h) {
			highest[queue] = int32(n)
		}
	}
	led.Highest = highest
}

// walkLedger reads a run's whole log, shard after shard, and then the tail, for which
// shard is nil. What each was called with counts only if walkLedger returns nil. An error
// is a [damaged].
func walkLedger(tree *znode.Tree, run Run, each func(shard *znode.Node, entries []ledgerEntry)) error {
	dir := ledgerPath(run.ID)
	if tree.Get(dir) == nil {
		return &damaged{dir, "it is gone, and with it the custody of what " + run.ID + " migrated"}
	}
	total, sum := 0, ""
	report := func(shard *znode.Node, entries []ledgerEntry) {
		for _, e := range entries {
			sum = ledgerSum(sum, e)
		}
		total += len(entries)
		each(shard, entries)
	}
	for i := range run.Ledger.Shards {
		if slices.Contains(run.Ledger.Missing, i) {
			continue
		}
		path := shardPath(run.ID, i)
		n := tree.Get(path)
		if n == nil {
			return &damaged{path, "it is gone: the run's record counts " + strconv.Itoa(run.Ledger.Shards) + " shards"}
		}
		entries, err := unpackShard(n.Data)
		if err != nil {
			return &damaged{path, strings.TrimPrefix(err.Error(), ErrLedger.Error()+": ")}
		}
		report(n, entries)
	}
	tail, err := decodeTail(run)
	if err != nil {
		return err
	}
	report(nil, tail)
	if sum != run.Ledger.Sum || total != run.Ledger.Entries {
		return &damaged{dir, fmt.Sprintf("its %d entries don't match the run's record, which counts %d", total, run.Ledger.Entries)}
	}
	return nil
}

// damaged is one of the migration's own znodes that another client changed or removed.
type damaged struct{ path, why string }

func (d *damaged) Error() string { return fmt.Sprintf("%s: %v: %s", d.path, ErrLedger, d.why) }
func (d *damaged) Unwrap() error { return ErrLedger }
