package zkdata_test

import (
	"fmt"
	"strings"
	"testing"

	"mrtq/internal/zkdata"
)

// BenchmarkRead reads 50,000 znodes of 500 bytes, half of them from the snapshot
// and half from the log after it, and yields each once. The time and memory that
// it reports are those of the whole tree.
func BenchmarkRead(b *testing.B) {
	const records = 50000
	data := strings.Repeat("payload ", 63)
	nodes := append(rootIn(1, 1), znodeIn{path: "/ingest", czxid: 1, pzxid: 1 + records/2, cversion: records / 2, acl: -1})
	txns := []jute{openSession(1 + records/2)}
	for i := range int64(records / 2) {
		nodes = append(nodes, znodeIn{path: fmt.Sprintf("/ingest/mrtQ-%014d", i), data: data, czxid: 1 + i, pzxid: 1 + i, acl: -1})
		txns = append(txns, create(2+records/2+i, fmt.Sprintf("/ingest/mrtQ-%014d", records/2+i), data, int32(records/2+i+1)))
	}
	start := fmt.Sprintf("%x", 1+records/2)
	dir := files{"snapshot." + start: snapshotOf(nodes...).withDigest(1+records/2, digestOf(nodes...)), "log." + start: logOf(txns...)}.write(b)
	b.ReportAllocs()
	for b.Loop() {
		d, err := zkdata.Read(b.Context(), zkdata.Place{Dir: dir}, zkdata.Options{})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for range d.Tree.Nodes("/ingest") {
			n++
		}
		if n != records+1 {
			b.Fatalf("%d znodes", n)
		}
	}
}
