package migrate

import (
	"slices"
	"strings"
	"testing"
)

// If several runs have entries for a record, one of them counts. The test has it typed in by
// hand.
func TestCustodyRowsKeepNewest(t *testing.T) {
	entry := func(op ledgerOp, record string, root string) ledgerEntry {
		return ledgerEntry{op: op, record: record, root: root, bid: "bid0000000000"}
	}
	rows := newCustodyRows(newNames())
	rows.add("run0000000000", span{1, 2}, []ledgerEntry{
		entry(opMigrated, "/q/a0000000001", "/jobs/jid0000000001"),
		entry(opMigrated, "/q/a0000000002", "/jobs/jid0000000002"),
		entry(opMigrated, "/q/a0000000003", "/jobs/jid0000000003"),
		entry(opRolledBack, "/q/a0000000003", "/jobs/jid0000000003"),
	})
	rows.add("run0000000000", span{2, 3}, []ledgerEntry{
		entry(opMigrated, "/q/a0000000003", "/jobs/jid0000000004"), // again, in another shard
		entry(opMigrated, "/q/a0000000000", "/jobs/jid0000000005"),
		entry(opRolledBack, "/q/a0000000000", "/jobs/jid0000000005"),
	})
	rows.add("run0000000001", span{}, []ledgerEntry{
		entry(opMigrated, "/q/a0000000001", "/jobs/jid0000000006"),
		entry(opRolledBack, "/q/a0000000001", "/jobs/jid0000000006"), // the earlier run's entry counts again
		entry(opDeclaredDone, "/q/a0000000002", ""),
	})
	rows.keepNewest()
	var got []string
	for h := range rows.all() {
		got = append(got, strings.Join([]string{h.record, h.root, h.run}, " "))
	}
	want := []string{
		"/q/a0000000001 /jobs/jid0000000001 run0000000000",
		"/q/a0000000002  run0000000001",
		"/q/a0000000003 /jobs/jid0000000004 run0000000000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the ledgers say\n%q, want\n%q", got, want)
	}
	if h, there := rows.find("/q/a0000000003"); !there || h.createdIn != (span{2, 3}) {
		t.Errorf("/q/a0000000003 is %+v, %t: want that of the second shard", h, there)
	}
	for _, gone := range []string{"/q/a0000000000", "/q/a0000000004", "/q/b", ""} {
		if h, there := rows.find(gone); there {
			t.Errorf("%q is found as %+v", gone, h)
		}
	}
}

// Rows keep what jobs say, also what no migration writes.
func TestJobRowsKeepWhatJobsSay(t *testing.T) {
	digest := strings.Repeat("0f", 32)
	want := []migratedJob{
		{prov: origin{Run: "no run", Path: "a path without a number", SHA256: "no digest"}, root: "/jobs/forged", id: "forged", bid: "x"},
		{prov: origin{Run: "run0000000000", Path: "/ingest/mrtQ-050000000001", SHA256: digest, Consumed: AsPending}, root: "/jobs/jid0000000007", id: "jid0000000007", bid: "bid0000000001"},
		{prov: origin{Run: "run0000000000", Path: "/ingest/mrtQ-050000000002", SHA256: strings.ToUpper(digest)}, root: "/access/small/qid-000000001", id: "qid-000000001"},
	}
	rows := newJobRows(newNames())
	for _, p := range slices.Backward(want) {
		rows.add(p)
	}
	rows.sort()
	slices.SortFunc(want, func(a, b migratedJob) int { return strings.Compare(a.prov.Path, b.prov.Path) })
	if got := slices.Collect(rows.all()); !slices.Equal(got, want) {
		t.Errorf("rows say\n%+v, want\n%+v", got, want)
	}
	for _, p := range want {
		if got, there := rows.find(p.prov.Path); !there || got != p {
			t.Errorf("%s is found as %+v, %t", p.prov.Path, got, there)
		}
	}
}
