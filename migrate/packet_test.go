package migrate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mrtq/internal/znode"
)

// Each transaction fits a packet, even if very many records are declared done.
func TestManyRecordsDeclaredDone(t *testing.T) {
	var units []unit
	for i := range 200_000 {
		units = append(units, unit{steps: []step{{}}, ledger: []ledgerEntry{{op: opDeclaredDone, record: fmt.Sprintf("/ingest/mrtQ-%02d0%d%010d", i*7919%100, i*31%10, uint32(i*2654435761)>>1), hash: uint32(i * 2654435761)}}})
	}
	log, led := ledgerLog{run: "run0000000000"}, Ledger{}
	n := 0
	for u := range pack(func(yield func(unit) bool) {
		for _, u := range units {
			if !yield(u) {
				return
			}
		}
	}, defaultBudget, maxOps, 0) {
		n += len(u.ledger)
		ops, err := log.add(&led, u.ledger, false)
		if err != nil {
			t.Fatal(err)
		}
		if size := znode.MultiSize(ops, 0) + len(led.Tail); size > 2*defaultBudget {
			t.Fatalf("a transaction of %d entries takes %d bytes", len(u.ledger), size)
		}
	}
	if n != len(units) {
		t.Errorf("%d of %d entries", n, len(units))
	}
}

// A shard costs memory in proportion to what a shard can be.
func TestLedgerBomb(t *testing.T) {
	const stem, n = 1 << 20, 10_000
	raw := []byte{ledgerVersion}
	raw = binary.AppendUvarint(raw, n)
	raw = binary.AppendUvarint(raw, 1)
	raw = append(raw, byte(opDeclaredDone))
	raw = binary.AppendUvarint(raw, stem)
	raw = append(raw, bytes.Repeat([]byte{'a'}, stem)...)
	raw = append(raw, 0)
	raw = append(raw, make([]byte, n*8)...)
	if _, err := unpackShard(packShard(raw)); !errors.Is(err, ErrLedger) || !strings.Contains(err.Error(), "its paths take") {
		t.Errorf("error %v", err)
	}
}
