package migrate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// undecidedQueue has a record of each kind that somebody must decide about, some that somebody may decide about, and
// one that nobody must.
func undecidedQueue(t *testing.T, d newqueue.Dialect) *site {
	t.Helper()
	unserviceable := job("a", "3")
	delete(unserviceable, "filename")
	noProfile := job("b", "7")
	delete(noProfile, "profile")
	return serve(t, queueTree(t, map[string][]byte{
		ingest(1): record(t, legacy.Consumed, job("a", "1")),
		ingest(2): []byte("x"),
		ingest(3): record(t, legacy.Pending, unserviceable),
		ingest(4): record(t, legacy.Failed, job("a", "4")),
		ingest(5): record(t, legacy.Pending, job("a", "5")),
		ingest(6): record(t, legacy.Consumed, job("a", "6")),
		ingest(7): record(t, legacy.Pending, noProfile),
	}), d)
}

// defaults are the options of a first migration without any choice.
func (s *site) defaults() migrate.MigrateOptions {
	opt := s.options()
	opt.Choices = migrate.DefaultChoices()
	return opt
}

// written are the decisions file that a plan writes, without the digests.
func written(t testing.TB, p *migrate.Plan) string {
	t.Helper()
	var b strings.Builder
	if err := p.WriteDecisions(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What is not decided is written to a file, people fill it in, and the plan takes what they
// decided. The run keeps it, so that a migration that was interrupted is finished without the
// file.
func TestRecordByRecord(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := undecidedQueue(t, d)
		file := written(t, s.plan(s.defaults().Options))
		wants := []string{ingest(2) + ",,"} // consumed records are left to the legacy queue
		if d == newqueue.MrtZK {
			wants = append(wants, ingest(3)+",,it has no filename: expected a string that is not empty: Initialize would fail it,migrate,", ingest(7)+",,", "/batch-uuids/bid-b,,")
		}
		for _, want := range wants {
			if !strings.Contains(file, "\n"+want) {
				t.Errorf("no %s in\n%s", want, file)
			}
		}
		if got := strings.Count(file, "\n"); got != 1+len(wants) {
			t.Errorf("%d lines\n%s", got, file)
		}
		for path, choice := range map[string]string{ingest(7): "migrate", "/batch-uuids/bid-b": "migrate", ingest(2): "quarantine", ingest(3): "migrate"} {
			file = strings.Replace(file, path+",,", path+","+choice+",", 1)
		}
		decisions, err := migrate.ReadDecisions(strings.NewReader(file))
		s.must(err)
		opt := s.defaults()
		opt.Decisions = append(decisions, s.decision(ingest(1), "held"), s.decision(ingest(6), "failed"))
		opt.Limits = single
		if _, err := migrate.Migrate(until(t, migrate.Sending, 2), s.source(), s.w, opt); !errors.Is(err, migrate.ErrInterrupted) {
			t.Fatalf("not interrupted: %v", err)
		}
		s.begin()
		s.mustMigrate(s.defaults())
		if got, want := accounted(s.verify()), "total 7: migrated 6, quarantined 1"; got != want {
			t.Errorf("%s\nexpected %s", got, want)
		}
		for path, want := range map[string]string{ingest(1): "held", ingest(3): "pending", ingest(4): "failed", ingest(5): "pending", ingest(6): "failed"} {
			found, err := migrate.Find(t.Context(), &s.w.Reader, path)
			s.must(err)
			if status := strings.ToLower(string(s.data(found.Job + "/status"))); !strings.Contains(status, fmt.Sprintf(`"status":"%s"`, want)) {
				t.Errorf("%s: %s, expected %s", path, status, want)
			}
		}
	})
}

// A decision that does not fit is named with its line, and nothing is done.
func TestDecisionsThatDoNotFit(t *testing.T) {
	s := undecidedQueue(t, newqueue.MrtZK)
	lines := strings.Split(written(t, s.plan(s.defaults().Options)), "\n")
	hash := lines[1][strings.LastIndexByte(lines[1], ',')+1:]
	for _, c := range []struct{ line, message, next string }{
		{"/ingest/mrtQ-05000000000099,held,,,0011223344556677", "line 7 of the decisions: neither the source nor this migration has it", "check its path, or remove the line"},
		{ingest(4) + ",held,,,0011223344556677", "line 7 of the decisions: the record has changed since the decisions were written", "look at it again: write a new decisions file"},
		{ingest(2) + ",maybe,,," + hash, `line 7 of the decisions: "maybe" is no choice for this record`, "choose quarantine"},
		{"/batch-uuids/bid-a,skip,,,", `line 7 of the decisions: "skip" is no choice for a batch`, "choose migrate"},
	} {
		decisions, err := migrate.ReadDecisions(strings.NewReader(lines[0] + strings.Repeat("\n/ingest/x,,,,", 1) + "\n\n\n\n\n" + c.line))
		s.must(err)
		opt := s.defaults()
		opt.Decisions = decisions
		before := s.server.Zxid()
		_, err = s.migrate(opt)
		if !errors.Is(err, migrate.ErrBlocked) || s.server.Zxid() != before {
			t.Errorf("%s: %v", c.line, err)
		}
		p := problem(s.plan(opt.Options), "bad-decision")
		if p == nil || p.Message != c.message || p.Next != c.next {
			t.Errorf("%s: %+v", c.line, p)
		}
	}
}

// A file that is not a decisions file is refused by the line.
func TestDecisionsFilesThatAreRefused(t *testing.T) {
	const header = "record,choice,why,choices,sha256\n"
	const not = "this is not a decisions file as mrtq writes it: "
	for _, c := range []struct{ file, want string }{
		{"", not + "line 1: expected the columns record,choice,why,choices,sha256"},
		{"path,choice\n", not + "line 1: expected the columns record,choice,why,choices,sha256"},
		{header + "/ingest/a,held\n", not + "line 2: it has 2 columns, expected 5"},
		{header + "/a,held,,,\n/b,,,,\n/a,failed,,,\n", not + "line 4: /a is in line 2 already; keep one of them"},
		{header + "/a,\"held,,,\n", not + `line 2: extraneous or missing " in quoted-field`},
	} {
		_, err := migrate.ReadDecisions(strings.NewReader(c.file))
		if !errors.Is(err, migrate.ErrDecisions) || err.Error() != c.want {
			t.Errorf("%q: %v", c.file, err)
		}
	}
	for _, file := range []string{header, "\ufeff" + header} { // with a byte order mark, as spreadsheets write it
		if got, err := migrate.ReadDecisions(strings.NewReader(file + "/a, held ,\"x, y\",,00\n")); err != nil || !slices.Equal(got, []migrate.Decision{{Line: 2, Record: "/a", Choice: "held", Hash: "00"}}) {
			t.Errorf("%v %v", got, err)
		}
	}
}

// A decision is about the record as it was: if a legacy worker takes the record before the
// migration is finished, the record is left to the worker.
func TestDecidedRecordChanges(t *testing.T) {
	s := serve(t, queueTree(t, map[string][]byte{
		ingest(1): record(t, legacy.Pending, job("a", "1")),
		ingest(2): record(t, legacy.Failed, job("a", "2")),
	}), newqueue.MrtZK)
	p := s.plan(s.defaults().Options)
	opt := s.defaults()
	opt.Decisions = []migrate.Decision{{Line: 2, Record: ingest(2), Choice: "pending", Hash: p.Records[1].Hash.String()}}
	last := s.plan(opt.Options).Risks
	if r := last[len(last)-1]; r.About != "decisions" || !slices.Equal(r.Twice, []string{ingest(2)}) {
		t.Errorf("risks %+v", last)
	}
	opt.Limits = single
	if _, err := migrate.Migrate(until(t, migrate.Sending, 1), s.source(), s.w, opt); !errors.Is(err, migrate.ErrInterrupted) {
		t.Fatalf("not interrupted: %v", err)
	}
	s.set(ingest(2), record(t, legacy.Consumed, job("a", "2")))
	s.begin()
	s.mustMigrate(s.defaults())
	if got, want := accounted(s.mustVerify()), "total 2: migrated 1, skipped 1"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

// decision is one about a record as it is now.
func (s *site) decision(record, choice string) migrate.Decision {
	s.t.Helper()
	opt := s.defaults().Options
	for _, r := range s.plan(opt).Records {
		if r.Path == record {
			return migrate.Decision{Record: record, Choice: choice, Hash: r.Hash.String()}
		}
	}
	s.t.Fatalf("the plan does not have %s", record)
	return migrate.Decision{}
}

// fill fills in the decisions file that a plan writes: all choices that are not made yet.
func (s *site) fill(p *migrate.Plan, choice string) []migrate.Decision {
	s.t.Helper()
	decisions, err := migrate.ReadDecisions(strings.NewReader(strings.ReplaceAll(written(s.t, p), ",,", ","+choice+",")))
	s.must(err)
	return decisions
}

// A record that comes while a run is interrupted is decided about when the run is finished. The
// decision adds to those that the run keeps.
func TestLateRecordIsDecided(t *testing.T) {
	s := serve(t, queueTree(t, map[string][]byte{
		ingest(1): record(t, legacy.Consumed, job("a", "1")),
		ingest(2): record(t, legacy.Consumed, job("a", "2")),
		ingest(3): record(t, legacy.Pending, job("a", "3")),
		ingest(5): record(t, legacy.Deleted, job("a", "5")),
	}), newqueue.MrtZK)
	opt := s.defaults()
	opt.Decisions = []migrate.Decision{s.decision(ingest(1), "held"), s.decision(ingest(2), "held")}
	opt.Limits = single
	if _, err := migrate.Migrate(until(t, migrate.Sending, 1), s.source(), s.w, opt); !errors.Is(err, migrate.ErrInterrupted) {
		t.Fatalf("not interrupted: %v", err)
	}
	s.begin()
	unserviceable := job("b", "4")
	delete(unserviceable, "filename")
	s.create(ingest(4), record(t, legacy.Pending, unserviceable))
	s.create(ingest(6), record(t, legacy.Consumed, job("b", "6"))) // it is left, as the run has chosen
	p := s.plan(s.defaults().Options)
	if found := problem(p, migrate.Unserviceable); found == nil || found.Path != ingest(4) || !strings.Contains(found.Next, "so decide record by record, or roll it back first") {
		t.Fatalf("%+v", p.Problems)
	}
	again := s.defaults()
	again.Decisions = s.fill(p, "migrate")

	// What the run has done or will do is not decided in another way.
	for _, d := range []migrate.Decision{{Record: ingest(1), Choice: "pending"}, {Record: ingest(2), Choice: "failed"}, {Record: ingest(5), Choice: "migrate"}} {
		for _, r := range p.Records {
			if r.Path == d.Record {
				d.Hash = r.Hash.String()
			}
		}
		other := again
		other.Decisions = append(slices.DeleteFunc(slices.Clone(again.Decisions), func(of migrate.Decision) bool { return of.Record == d.Record }), d)
		if p := s.plan(other.Options); len(p.Problems) != 1 || p.Problems[0].Kind != migrate.OtherChoices || p.Problems[0].Path != d.Record {
			t.Errorf("%+v: %+v", d, p.Problems)
		}
	}

	s.mustMigrate(again)
	if got, want := accounted(s.mustVerify()), "total 6: migrated 4, skipped 2"; got != want {
		t.Errorf("%s\nexpected %s", got, want)
	}
	for path, want := range map[string]string{ingest(1): "Held", ingest(2): "Held", ingest(4): "Pending"} {
		if status := string(s.data(s.jobOf(path) + "/status")); !strings.Contains(status, fmt.Sprintf(`"status":"%s"`, want)) {
			t.Errorf("%s: %s, expected %s", path, status, want)
		}
	}
}

// A file that is written anew has only decisions that hold.
func TestDecisionsWrittenAnew(t *testing.T) {
	s := undecidedQueue(t, newqueue.MrtZK)
	opt := s.defaults().Options
	opt.Decisions = append(s.fill(s.plan(opt), "migrate"), s.decision(ingest(1), "held"), s.decision(ingest(6), "held"))
	s.set(ingest(1), record(t, legacy.Pending, job("a", "1")))
	s.remove(ingest(6))
	p := s.plan(opt)
	if found := problem(p, "bad-decision"); found == nil {
		t.Errorf("no problem: %+v", p.Problems)
	}
	opt.Decisions = s.fill(p, "")
	for _, d := range opt.Decisions {
		if d.Record == ingest(1) || d.Record == ingest(6) {
			t.Errorf("%+v", d)
		}
	}
}

// The command that migrated can be given again, with all its decisions.
func TestDecisionsAgain(t *testing.T) {
	noProfile := job("b", "7")
	delete(noProfile, "profile")
	s := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Pending, noProfile)}), newqueue.MrtZK)
	opt := s.defaults()
	opt.Decisions = s.fill(s.plan(opt.Options), "migrate")
	s.mustMigrate(opt)
	s.mustMigrate(opt)
}

// The decisions that a run keeps must fit into its transactions.
func TestTooManyDecisions(t *testing.T) {
	s := undecidedQueue(t, newqueue.MrtZK)
	opt := s.defaults()
	for i := range 10_000 {
		opt.Decisions = append(opt.Decisions, migrate.Decision{Line: i + 2, Record: ingest(100 + i), Choice: "held", Hash: "0011223344556677"})
	}
	if p := problem(s.plan(opt.Options), "bad-decision"); p == nil || !strings.HasPrefix(p.Message, "the decisions about 10000 records take ") {
		t.Errorf("%+v", p)
	}
}

// Consumed records are left to the legacy worker that has them, unless somebody chooses otherwise. They don't stop the
// migration, and another run takes them if they are pending again.
func TestConsumedRecordsAreLeft(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, map[string][]byte{
			ingest(1): record(t, legacy.Consumed, job("a", "1")), ingest(2): record(t, legacy.Pending, job("a", "2")),
		}), d)
		if p := s.plan(s.defaults().Options); p.Blocked() || len(p.Undecided) > 0 || p.Records[0].Action != migrate.ActSkip || !strings.Contains(p.Records[0].Reason, "left") {
			t.Errorf("%v %+v %+v", p.Problems, p.Undecided, p.Records)
		}
		s.mustMigrate(s.defaults())
		if got, want := accounted(s.mustVerify()), "total 2: migrated 1, skipped 1"; got != want {
			t.Errorf("%s, expected %s", got, want)
		}
		if l := s.status().Legacy[0]; l.Left != 1 || len(l.NotMigrated) > 0 || len(l.AtWork) != 1 {
			t.Errorf("%+v", l)
		}
		s.set(ingest(1), record(t, legacy.Pending, job("a", "1"))) // requeued
		if res := s.mustMigrate(s.defaults()); res.Created.Jobs != 1 {
			t.Errorf("%+v", res.Created)
		}
	})
}
