package ledger_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

func jobLine(record, job, batch string) ledger.Line {
	return ledger.Line{Kind: ledger.JobCreated, Record: record, Job: job, Batch: batch, Hash: ledger.HashOf([32]byte{byte(len(record)), 2, 3, 4, 5, 6, 7, 8}), Czxid: czxid}
}

// czxid is that of each record: one that a long-lived ensemble gives.
const czxid = 0x1700000abcd

func batchLine(batch, uuid string) ledger.Line {
	return ledger.Line{Kind: ledger.BatchCreated, Batch: batch, UUID: uuid}
}

func removed(record, job string) ledger.Line {
	return ledger.Line{Kind: ledger.JobRemoved, Record: record, Job: job}
}

func handedOver(record, job string, kept bool) ledger.Line {
	return ledger.Line{Kind: ledger.HandedOver, Record: record, Job: job, Kept: kept}
}

func batchRemoved(batch string) ledger.Line {
	return ledger.Line{Kind: ledger.BatchRemoved, Batch: batch}
}

func filled(runs ...[]ledger.Line) (*ledger.Ledger, error) {
	var records []migration.Run
	for i := range runs {
		records = append(records, migration.Run{ID: migration.RunID(int32(i))})
	}
	l := ledger.New(records)
	var encoder ledger.Encoder
	for i, lines := range runs {
		if err := l.Add(i, "/entry", encoder.Encode(lines)); err != nil {
			return l, err
		}
	}
	return l, nil
}

const r1, r2, r3 = "/ingest/mrtQ-05000000000001", "/ingest/mrtQ-05000000000002", "/accessSmall.1/mrtQ-000000000003"

// A ledger says which record became which job, and which batches there are, whatever runs
// and rollbacks came one after the other.
func TestLedgerSays(t *testing.T) {
	first := []ledger.Line{batchLine("bid0000000000", "u0"), jobLine(r1, "/jobs/j1", "bid0000000000"), jobLine(r2, "/jobs/j2", "bid0000000000"), jobLine(r3, "/access/small/q0", "")}
	for _, c := range []struct {
		name    string
		runs    [][]ledger.Line
		all     string // newest entries, record=job
		batches string // bid of each, with its run and its own jobs
	}{
		{"nothing", nil, "", ""},
		{"one run", [][]ledger.Line{first}, "1=j1 2=j2 3=q0", "bid0000000000 of 0 with 2"},
		{"a second run adds to a batch", [][]ledger.Line{first, {jobLine("/ingest/mrtQ-05000000000004", "/jobs/j4", "bid0000000000")}}, "1=j1 2=j2 3=q0 4=j4", "bid0000000000 of 0 with 2"},
		{"migrated again", [][]ledger.Line{first, {jobLine(r1, "/jobs/j9", "bid0000000000")}}, "2=j2 3=q0 1=j9", "bid0000000000 of 0 with 2"},
		{"rolled back", [][]ledger.Line{append(slices.Clone(first), removed(r3, "/access/small/q0"), removed(r2, "/jobs/j2"), removed(r1, "/jobs/j1"), batchRemoved("bid0000000000"))}, "", ""},
		{"rolled back in part", [][]ledger.Line{append(slices.Clone(first), removed(r2, "/jobs/j2"))}, "1=j1 3=q0", "bid0000000000 of 0 with 1"},
		{"the older entry counts again", [][]ledger.Line{first, {jobLine(r1, "/jobs/j9", "bid0000000000"), removed(r1, "/jobs/j9")}}, "1=j1 2=j2 3=q0", "bid0000000000 of 0 with 2"},
		{"the older entry is taken back first", [][]ledger.Line{first, {jobLine(r1, "/jobs/j9", "bid0000000000"), removed(r1, "/jobs/j1")}}, "2=j2 3=q0 1=j9", "bid0000000000 of 0 with 1"},
		{"and then the newer one", [][]ledger.Line{first, {jobLine(r1, "/jobs/j9", "bid0000000000"), removed(r1, "/jobs/j1"), removed(r1, "/jobs/j9")}}, "2=j2 3=q0", "bid0000000000 of 0 with 1"},
		{"two runs shared a batch, and both were rolled back", [][]ledger.Line{
			append(slices.Clone(first), removed(r3, "/access/small/q0"), removed(r2, "/jobs/j2"), removed(r1, "/jobs/j1"), batchRemoved("bid0000000000")),
			{jobLine(r1, "/jobs/j9", "bid0000000000"), removed(r1, "/jobs/j9")},
		}, "", ""},
		{"handed over", [][]ledger.Line{append(slices.Clone(first), handedOver(r1, "/jobs/j1", true), handedOver(r2, "/jobs/j2", false))}, "1=j1! 2=j2? 3=q0", "bid0000000000 of 0 with 2"},
		{"handed over twice", [][]ledger.Line{append(slices.Clone(first), handedOver(r1, "/jobs/j1", false), handedOver(r1, "/jobs/j1", true))}, "1=j1! 2=j2 3=q0", "bid0000000000 of 0 with 2"},
		{"given back", [][]ledger.Line{append(slices.Clone(first), handedOver(r1, "/jobs/j1", true), removed(r1, "/jobs/j1"))}, "2=j2 3=q0", "bid0000000000 of 0 with 1"},
		{"given back, and migrated again", [][]ledger.Line{append(slices.Clone(first), handedOver(r1, "/jobs/j1", true), removed(r1, "/jobs/j1")), {jobLine(r1, "/jobs/j9", "bid0000000000")}}, "2=j2 3=q0 1=j9", "bid0000000000 of 0 with 1"},
		{"the older entry is handed over", [][]ledger.Line{first, {jobLine(r1, "/jobs/j9", "bid0000000000"), handedOver(r1, "/jobs/j1", true)}}, "2=j2 3=q0 1=j9", "bid0000000000 of 0 with 2"},
		{"a batch's name is used again", [][]ledger.Line{first, {batchLine("bid0000000007", "u0"), jobLine(r1, "/jobs/j9", "bid0000000007")}}, "2=j2 3=q0 1=j9", "bid0000000000 of 0 with 2, bid0000000007 of 1 with 1"},
		{"and taken back", [][]ledger.Line{first, {batchLine("bid0000000007", "u0"), batchRemoved("bid0000000007")}}, "1=j1 2=j2 3=q0", "bid0000000000 of 0 with 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := filled(c.runs...)
			if err != nil {
				t.Fatal(err)
			}
			var all, batches []string
			for e := range l.All() {
				mark := ""
				if e.HandedOver {
					mark = map[bool]string{true: "!", false: "?"}[e.Kept]
				}
				all = append(all, fmt.Sprintf("%s=%s%s", e.Record[len(e.Record)-1:], znode.Name(e.Job), mark))
				if found := l.Find(e.Record); found != e || e.Hash != jobLine(e.Record, "", "").Hash || e.Czxid != czxid {
					t.Errorf("%s: found %+v, expected %+v", e.Record, found, e)
				}
			}
			for b := range l.Batches() {
				batches = append(batches, fmt.Sprintf("%s of %d with %d", b.ID, b.Run, b.Own))
				if l.Batch(b.ID) != b {
					t.Errorf("%s is not found", b.ID)
				}
			}
			slices.Sort(batches)
			if got := strings.Join(all, " "); got != c.all || l.Len() != len(all) {
				t.Errorf("entries %s (%d), expected %s", got, l.Len(), c.all)
			}
			if got := strings.Join(batches, ", "); got != c.batches {
				t.Errorf("batches %s, expected %s", got, c.batches)
			}
			ofRuns := 0
			for i := range c.runs {
				for e := range l.OfRun(i) {
					ofRuns++
					if int(e.Run) != i {
						t.Errorf("%+v is said to be of run %d", e, i)
					}
				}
			}
			for _, lines := range c.runs {
				for _, line := range lines {
					if line.Kind == ledger.JobCreated && !l.Knows(line.Record) {
						t.Errorf("%s was never migrated", line.Record)
					}
				}
			}
			if l.Knows("/ingest/none") {
				t.Error("a record was migrated that nobody knows")
			}
			if ofRuns < l.Len() {
				t.Errorf("the runs have %d entries, and there are %d", ofRuns, l.Len())
			}
		})
	}
}

func compressed(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// An entry that can't be read, or contradicts those before it, is damage. The error names it.
func TestDamagedEntry(t *testing.T) {
	job := func(record, job string) string { return jobLine(record, job, "").String() + "\n" }
	gone := func(record, job string) string { return removed(record, job).String() + "\n" }
	batch := func(bid, uuid string) string { return batchLine(bid, uuid).String() + "\n" }
	edited := func(line, old, new string) []byte {
		if !strings.Contains(line, old) {
			t.Fatalf("%q is not in %q", old, line)
		}
		return compressed(strings.Replace(line, old, new, 1))
	}
	const bid = "bid0000000000"
	good := compressed(batch(bid, "u0"))
	for name, data := range map[string][]byte{
		"empty":               {},
		"no gzip":             []byte(batch(bid, "u0")),
		"cut":                 good[:len(good)-1],
		"a bit":               append(slices.Clone(good[:15]), append([]byte{good[15] ^ 4}, good[16:]...)...),
		"more behind":         append(slices.Clone(good), 'x'),
		"a bomb":              compressed(strings.Repeat("\n", 64<<20+1)),
		"an empty line":       compressed("\n"),
		"unknown kind":        edited(job("/a", "/b"), "+job", "job"),
		"too few fields":      edited(batch(bid, "u0"), "\tfalse", ""),
		"too many fields":     edited(batch(bid, "u0"), "\tfalse", "\tfalse\t"),
		"no number":           edited(batch(bid, "u0"), "\t0\tfalse", "\tmany\tfalse"),
		"no hash":             edited(job("/a", "/b"), "0202030405060708", ""),
		"a bad czxid":         edited(job("/a", "/b"), "\t1700000abcd\t", "\tzz\t"),
		"bad hash":            edited(job("/a", "/b"), "0202030405060708", "XX"),
		"a long hash":         edited(job("/a", "/b"), "0202030405060708", "00112233445566778899"),
		"handed over, no job": compressed(handedOver("/a", "/b", true).String() + "\n"),
		"a relative handed":   compressed(job("/a", "/b") + handedOver("a", "/b", true).String() + "\n"),
		"kept how":            edited(job("/a", "/b")+handedOver("/a", "/b", true).String()+"\n", "\ttrue", "\tperhaps"),
		"a relative record":   compressed(job("a", "/b")),
		"a bad job":           compressed(job("/a", "/b/")),
		"removed, not there":  compressed(gone("/a", "/b")),
		"removed twice":       compressed(job("/a", "/b") + gone("/a", "/b") + gone("/a", "/b")),
		"another job removed": compressed(job("/a", "/b") + gone("/a", "/c")),
		"no record":           compressed(job("", "/b")),
		"no batch":            compressed(batch("", "u0")),
		"a batch's bad name":  compressed(batch(bid, "a/b")),
		"a bad batch":         compressed(batch("../x", "u0")),
		"batch not there":     compressed(batchRemoved("bid0000000009").String() + "\n"),
	} {
		err := ledger.New([]migration.Run{{ID: "run0000000000"}}).Add(0, "/migration/ledger/x", data)
		var damage *ledger.DamageError
		if !errors.Is(err, ledger.ErrDamaged) || !errors.As(err, &damage) || damage.Path != "/migration/ledger/x" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// For any text of an entry there is an error, or a ledger that agrees with itself. Nothing
// that is no entry is taken for one.
func FuzzLedger(f *testing.F) {
	const bid = "bid0000000000"
	seed := func(lines ...ledger.Line) {
		text := ""
		for _, l := range lines {
			text += l.String() + "\n"
		}
		f.Add(text, false)
	}
	seed(batchLine(bid, "u0"), jobLine("/a", "/b", bid), removed("/a", "/b"), batchRemoved(bid))
	seed(jobLine("/a", "/b", ""), jobLine("/a", "/c", ""), removed("/a", "/b"))
	f.Add("\x1f\x8b\b\x00", true)
	f.Fuzz(func(t *testing.T, text string, raw bool) {
		data := []byte(text)
		if !raw {
			data = compressed(text)
		}
		l := ledger.New([]migration.Run{{ID: "run0000000000"}})
		if err := l.Add(0, "/x", data); err != nil {
			if !errors.Is(err, ledger.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		n := 0
		for e := range l.All() {
			n++
			if l.Find(e.Record) != e || znode.ValidatePath(e.Record) != nil || znode.ValidatePath(e.Job) != nil {
				t.Fatalf("%+v", e)
			}
		}
		if n != l.Len() {
			t.Fatalf("%d entries, and it says %d", n, l.Len())
		}
	})
}

// A line of the ledger takes less than 22 bytes when it is compressed, eight of them random, so that a
// million records fit a server's memory twice over.
func TestLedgerIsSmall(t *testing.T) {
	var lines []ledger.Line
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		line := jobLine(fmt.Sprintf("/ingest/mrtQ-05%02d%010d", i%7, i*3), newqueue.JobPath(newqueue.SequenceID("jid", int32(i))), newqueue.SequenceID("bid", int32(i/20)))
		for b := range line.Hash {
			line.Hash[b] = byte(random.Uint32())
		}
		lines = append(lines, line)
	}
	var e ledger.Encoder
	if n := len(e.Encode(lines)); n > 22*len(lines) {
		t.Errorf("%d lines take %d bytes", len(lines), n)
	}
}

// A run's record that this version can't read is refused in one sentence.
func TestParseRun(t *testing.T) {
	good := migration.Run{ID: "run0000000000", State: migration.RunDone, Dialect: newqueue.MrtZK}
	good.Choices.Consumed, good.Choices.Failed, good.Choices.Completed, good.Choices.Deleted = "leave", "failed", "skip", "skip"
	good.Choices.Undecodable, good.Choices.InventoryRecords, good.Choices.Unserviceable = "block", "block", "block"
	good.Choices.MaxPriority = "99"
	data := string(ledger.EncodeRun(good))
	edit := func(old, new string) string {
		if !strings.Contains(data, old) {
			t.Fatalf("%s is not in %s", old, data)
		}
		return strings.Replace(data, old, new, 1)
	}
	for name, c := range map[string]struct{ data, says string }{
		"good":              {data, ""},
		"empty":             {"", "can't be read"},
		"no JSON":           {"by hand", "can't be read"},
		"the old form":      {`{"run":"run0000000000","state":"done","plan":"x","steps":12,"policies":{},"ledger":{"shards":1},"seal":"0"}`, "another version of mrtq has migrated to this target: /migration/runs/run0000000000 has format 0, and this version reads formats 5 to 6; use that version"},
		"a later form":      {`{"format":9,"run":{"id":7}}`, "another version of mrtq has migrated to this target: /migration/runs/run0000000000 has format 9, and this version reads formats 5 to 6; use that version"},
		"another run's":     {edit(`"run0000000000"`, `"run0000000001"`), "run0000000001"},
		"unknown state":     {edit(`"done"`, `"paused"`), "paused"},
		"unknown dialect":   {edit(`"mrt-zk"`, `"klingon"`), "klingon"},
		"misspelled choice": {edit(`"skip"`, `"skipp"`), "skipp"},
		"entries as text":   {edit(`"entries":0`, `"entries":"0"`), "can't be read"},
	} {
		run, err := ledger.ParseRun(znode.Node{Path: "/migration/runs/run0000000000", Data: []byte(c.data)})
		if c.says == "" {
			if err != nil || run.Dialect != good.Dialect || run.State != good.State {
				t.Errorf("%s: %+v, %v", name, run, err)
			}
			continue
		}
		other := strings.HasPrefix(c.says, "another version")
		if errors.Is(err, ledger.ErrDamaged) == other || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The data of a hold that mrtq did not write means one owner, who is unknown.
func TestOwners(t *testing.T) {
	for _, data := range []string{"", "null", "{}", `{"owners":[]}`, `{"owners":[{"why":"x"}]}`, `[]`, "text", `{"owners":{}}`} {
		if o := ledger.ParseOwners([]byte(data)); len(o) != 1 || o[0].By != migration.UnknownOwner {
			t.Errorf("%q is %+v", data, o)
		}
	}
	owners := migration.HoldOwners{{By: "run0000000000"}}.With(migration.HoldOwner{By: "ops", Why: "checking"}).With(migration.HoldOwner{By: "ops", Why: "still"})
	back := ledger.ParseOwners(ledger.EncodeOwners(owners))
	if !slices.Equal(back, owners) || len(back) != 2 || back[1].Why != "still" || !back.Has("ops") || back.Without("ops", "run0000000000").Has("ops") {
		t.Errorf("%+v", back)
	}
}

// The group of an entry is a part of its path, in every ledger that was ever written.
func TestEntryPath(t *testing.T) {
	for n, want := range map[int]string{0: "0000000/0000000000 first", 999: "0000000/0000000999", 1000: "0000001/0000001000 first", 1001: "0000001/0000001001"} {
		path, group, first := ledger.EntryPath("run0000000000", n)
		got, _ := strings.CutPrefix(path, "/migration/ledger/run0000000000/")
		if first {
			got += " first"
		}
		if got != want || znode.Parent(path) != group {
			t.Errorf("entry %d is %s in %s, expected %s", n, got, group, want)
		}
	}
}
