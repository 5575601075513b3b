package migrate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mrtq/newqueue"
)

func drawEntry(t *rapid.T) ledgerEntry {
	e := ledgerEntry{
		op:   ledgerOp(rapid.IntRange(0, int(ledgerOps)-1).Draw(t, "op")),
		hash: rapid.Uint32().Draw(t, "hash"),
	}
	sequence := rapid.Int32().Draw(t, "sequence")
	e.record = rapid.SampledFrom([]string{"/ingest/mrtQ-0500", "/mrt.inventory.full/mrtQ-00", "/a/b é/mrtQ-9919"}).Draw(t, "queue") + fmt.Sprintf("%010d", sequence)
	number := rapid.Int32Min(0).Draw(t, "number")
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		e.root, e.bid = newqueue.JobPath(newqueue.SequenceID("jid", number)), newqueue.SequenceID("bid", rapid.Int32Min(0).Draw(t, "batch"))
	case 1:
		e.root = newqueue.AccessRequestPath(newqueue.AccessLarge, newqueue.SequenceID("qid", number))
	}
	return e
}

// The log that a run leaves reads back as the entries that were added, in any number of
// steps.
func TestLedgerReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfN(rapid.Custom(drawEntry), 0, 3*tailEntries).Draw(t, "entries")
		var led Ledger
		log := ledgerLog{run: "run0000000000"}
		var shards [][]byte
		sum := ""
		for rest := entries; ; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "step")
			close := n == len(rest)
			ops, err := log.add(&led, rest[:n], close)
			if err != nil {
				t.Fatal(err)
			}
			for i, op := range ops {
				if want := shardPath("run0000000000", len(shards)); op.Path != want {
					t.Fatalf("shard %d of a step is %s, want %s", i, op.Path, want)
				}
				shards = append(shards, op.Data)
			}
			if rest = rest[n:]; close {
				break
			}
		}
		var got []ledgerEntry
		for _, data := range shards {
			some, err := unpackShard(data)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, some...)
		}
		for _, e := range entries {
			sum = ledgerSum(sum, e)
		}
		if !slices.Equal(got, entries) || led.Sum != sum || led.Entries != len(entries) || led.Tail != nil || led.Shards != len(shards) {
			t.Fatalf("read back %d of %d entries; %+v", len(got), len(entries), led)
		}
	})
}

// A million records take a few megabytes. In a usual queue, with several priorities and
// workers and batches of a thousand, a record takes at most six bytes.
func TestLedgerIsSmall(t *testing.T) {
	const records = 100_000
	log := ledgerLog{run: "run0000000000"}
	var led Ledger
	size, largest := 0, 0
	batch := make([]ledgerEntry, 0, 30)
	for i := range records {
		hash := uint32(i) * 2654435761
		batch = append(batch, ledgerEntry{
			record: fmt.Sprintf("/ingest/mrtQ-0%d0%d%010d", hash%3, hash%5, i), root: newqueue.JobPath(newqueue.SequenceID("jid", int32(i))),
			bid: newqueue.SequenceID("bid", int32(i/1000)), hash: hash,
		})
		if len(batch) < cap(batch) && i < records-1 {
			continue
		}
		ops, err := log.add(&led, batch, i == records-1)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			size, largest = size+len(op.Data), max(largest, len(op.Data))
		}
		batch = batch[:0]
	}
	t.Logf("%d records: %d shards of %d bytes at most, %.2f bytes a record", records, led.Shards, largest, float64(size)/records)
	if size > 6*records || largest > DefaultPacket/4 {
		t.Errorf("%d bytes, the largest shard %d", size, largest)
	}
}

func TestBadLedger(t *testing.T) {
	good, err := encodeLedger([]ledgerEntry{{record: "/ingest/mrtQ-05000000000001", root: "/jobs/jid0000000001", bid: "bid0000000000", hash: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty":          {},
		"other format":   {9},
		"cut":            good[:len(good)-1],
		"more":           append(slices.Clone(good), 0),
		"many entries":   binary.AppendUvarint([]byte{ledgerVersion}, 1<<40),
		"many kinds":     binary.AppendUvarint([]byte{ledgerVersion, 0}, 1<<40),
		"unknown op":     {ledgerVersion, 0, 1, 99, 0, 0},
		"unknown kind":   {ledgerVersion, 1, 0, 7, 0, 0, 0, 0, 0, 0, 0},
		"endless number": append([]byte{ledgerVersion}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	} {
		if entries, err := decodeLedger(data); !errors.Is(err, ErrLedger) {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
	}
	if _, err := unpackShard([]byte("no flate")); !errors.Is(err, ErrLedger) {
		t.Errorf("no flate: %v", err)
	}
	if _, err := unpackShard(packShard(make([]byte, maxShard+1))); !errors.Is(err, ErrLedger) {
		t.Errorf("a bomb: %v", err)
	}
}

// For any bytes of a shard there is an error, or there are entries that encode to something
// that reads back the same.
func FuzzLedger(f *testing.F) {
	seed, err := encodeLedger([]ledgerEntry{
		{record: "/ingest/mrtQ-05000000000001", root: "/jobs/jid0000000001", bid: "bid0000000000", hash: 1},
		{op: opRolledBack, record: "/accessSmall.1/mrtQ-000000000011", root: "/access/small/qid0000000000", hash: 2},
		{op: opDeclaredDone, record: "/ingest/mrtQ-0500-2147483648"},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte{ledgerVersion, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := decodeLedger(data)
		if err != nil {
			if !errors.Is(err, ErrLedger) {
				t.Fatal(err)
			}
			return
		}
		again, err := encodeLedger(entries)
		if err != nil {
			return // names that no migration gives
		}
		if back, err := decodeLedger(again); err != nil || !slices.Equal(back, entries) {
			t.Fatalf("%v: %v, and then %v", err, entries, back)
		}
	})
}
