package migrate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// subject is the record of which all commands must say the same. Two others of its batch stay as they are.
const (
	subject = "/ingest/mrtQ-05000000000002"
	others  = 2
)

// standings are what can have become of a record, and how it stands then.
var standings = []struct {
	name     string
	released bool // all records were handed over before
	happens  func(*site)
	is       string // what plan, show, status and verify say
	release  string // what a release does
	back     string // what a rollback does
}{
	{"nothing happened", false, func(*site) {}, "as migrated", "hands over", "withdraws"},
	{"a legacy worker finished it", false, func(s *site) { s.set(subject, record(s.t, legacy.Completed, job("0", "2"))) }, "changed", "withdraws", "withdraws"},
	{"it was deleted and created again with the same bytes", false, func(s *site) {
		data := s.data(subject)
		s.remove(subject)
		s.create(subject, data)
	}, "changed", "withdraws", "withdraws"},
	{"it was deleted", false, func(s *site) { s.remove(subject) }, "absent", "asks", "asks"},
	{"an administrator renamed it", false, func(s *site) { s.rename(subject, "/ingest/mrtQ-01000000000002") }, "renamed", "withdraws", "withdraws"},
	{"a legacy worker took it and requeued it under another name", false, func(s *site) {
		s.create("/ingest/mrtQ-05000000000099", record(s.t, legacy.Held, job("0", "2")))
		s.remove(subject)
	}, "renamed", "withdraws", "withdraws"},
	{"its queue was made again, and its bytes were put back", false, func(s *site) { s.queueAgain(s.data(subject)) }, "changed", "withdraws", "withdraws"},
	{"its queue was made again, and a new record has its name", false, func(s *site) { s.queueAgain(record(s.t, legacy.Pending, job("late", "99"))) }, "absent", "asks", "asks"},
	{"nobody may read it", false, func(s *site) { s.setACL(subject, zk.DigestACL(zk.PermAll, "ingest", "secret")) }, "unknown", "refuses", "refuses"},

	{"it came late", false, func(s *site) {}, "not migrated", "–", "–"},
	{"it came late, and nobody may read it", false, func(s *site) { s.setACL(subject, zk.DigestACL(zk.PermAll, "ingest", "secret")) }, "unknown", "refuses", "–"},

	{"it was handed over", true, func(*site) {}, "handed over", "–", "gives back"},
	{"it is there again", true, func(s *site) { s.create(subject, record(s.t, legacy.Pending, job("0", "2"))) }, "again", "asks", "gives back"},
	{"it is there again, and was changed", true, func(s *site) { s.create(subject, record(s.t, legacy.Completed, job("0", "2"))) }, "again", "asks", "asks"},
	{"after the release its queue was made again, and a new record has its name", true, func(s *site) { s.queueAgain(record(s.t, legacy.Pending, job("late", "99"))) }, "not migrated", "–", "gives back"},
}

func (s *site) rename(from, to string) {
	s.create(to, s.data(from))
	s.remove(from)
}

// queueAgain makes the ingest queue again, as it was, but with other bytes in the subject.
func (s *site) queueAgain(data []byte) {
	tree := s.tree()
	s.remove("/ingest")
	for n := range tree.All("/ingest") {
		s.create(n.Path, n.Data)
	}
	if s.has(subject) {
		s.remove(subject)
	}
	s.create(subject, data)
}

// TestStanding: plan, show, status, verify, release and rollback say the same of how a record stands.
func TestStanding(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, row := range standings {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				records := pendings(t, others+1, others+1)
				late := records[subject]
				if strings.Contains(row.name, "late") {
					delete(records, subject)
				}
				s := serve(t, queueTree(t, records), d)
				s.mustMigrate(s.options())
				if records[subject] == nil {
					s.create(subject, late)
				}
				if row.released {
					s.release()
				}
				row.happens(s)
				inQueue := row.is // what commands say that are about the queue that has the work
				if row.is == "renamed" {
					inQueue = "changed"
				}
				for _, command := range []struct {
					name, want string
					says       func(*site) string
				}{
					{"plan", row.is, planSays}, {"show", row.is, showSays}, {"status", inQueue, statusSays}, {"verify", inQueue, verifySays},
					{"rollback", row.back, rollbackDoes}, {"release", row.release, releaseDoes}, // it comes last, because it writes
				} {
					if got := command.says(s); got != command.want {
						t.Errorf("%s: %s, expected %s", command.name, got, command.want)
					}
				}
			})
		}
	})
}

func planSays(s *site) string {
	opt := s.further().PlanOptions
	p := s.plan(opt)
	if slices.ContainsFunc(p.Records, func(r migrate.PlanRecord) bool { return strings.Contains(r.Reason, subject+" under another name") }) {
		return "renamed"
	}
	i := slices.IndexFunc(p.Records, func(r migrate.PlanRecord) bool { return r.Path == subject })
	if i < 0 {
		if s.status().Newest().HandedOver > 0 {
			return "handed over"
		}
		return "absent"
	}
	switch r := p.Records[i]; r.Action {
	case migrate.ActionCreate:
		if problem(p, migrate.ProblemOtherOrigin) != nil {
			return "absent" // first somebody decides about the record that had its name
		}
		return "not migrated"
	case migrate.ActionChanged:
		if strings.Contains(r.Reason, "handed over") {
			return "again"
		}
		return "changed"
	case migrate.ActionBlock:
		return "unknown"
	case migrate.ActionUnchanged:
		return "as migrated"
	default:
		return string(r.Action)
	}
}

func showSays(s *site) string {
	item := value(migrate.Find(s.t.Context(), &s.w.Reader, subject))(s)
	return strings.ReplaceAll(string(item.Standing), "-", " ")
}

// asked is how a record stands that somebody is asked about.
func asked(undecided []migrate.Note) string {
	for _, u := range undecided {
		if u.Record == subject {
			return map[migrate.Question]string{migrate.QuestionVanished: "absent", migrate.QuestionAgain: "again"}[u.Question]
		}
	}
	return ""
}

// unknown is "unknown" if a command says that credentials are needed to read the subject.
func unknown(s *site, err error) string {
	if err != nil && strings.Contains(err.Error(), subject) && strings.Contains(err.Error(), "credentials") {
		return "unknown"
	}
	s.must(err)
	return ""
}

func statusSays(s *site) string {
	st := s.status()
	i := slices.IndexFunc(st.Legacy, func(l migrate.LegacyStatus) bool { return l.Path == "/ingest" })
	l := st.Legacy[i]
	switch word := asked(l.Undecided); {
	case word != "":
		return word
	case slices.Contains(l.NotMigrated, subject):
		return "not migrated"
	case slices.Contains(l.AtLegacy, subject):
		return "changed"
	case slices.Contains(l.Unreadable, subject):
		return "unknown"
	case st.Newest().HandedOver > others:
		return "handed over"
	case l.Migrated > others:
		return "as migrated"
	}
	return "nothing"
}

func verifySays(s *site) string {
	v, err := migrate.Verify(s.t.Context(), nil, &s.w.Reader, migrate.VerifyOptions{})
	if word := unknown(s, err); word != "" {
		return word
	}
	for _, d := range v.Differences {
		if d.Record == subject && d.Kind.Group() == migrate.UndecidedGroup {
			return asked([]migrate.Note{{Record: subject, Question: migrate.Question(d.Kind)}})
		}
	}
	switch {
	case slices.Contains(v.NotMigrated, subject):
		return "not migrated"
	case slices.ContainsFunc(v.Legacy, func(n migrate.Note) bool { return n.Record == subject }):
		return "changed"
	case v.Due == 0 && v.Records.Migrated > others:
		return "handed over"
	case v.Records.Migrated > others:
		return "as migrated"
	}
	return "nothing"
}

func rollbackDoes(s *site) string {
	undo, err := migrate.PreviewRollback(s.t.Context(), &s.w.Reader, "", migrate.RollbackOptions{})
	switch {
	case errors.Is(err, migrate.ErrOtherSource): // all records of the queue are absent
		return "asks"
	case unknown(s, err) != "":
		return "refuses"
	case asked(undo.Undecided) != "":
		return "asks"
	case undo.GivesBack > others:
		return "gives back"
	case undo.Removes.Jobs > others:
		return "withdraws"
	}
	return "–"
}

func releaseDoes(s *site) string {
	res, err := s.tryRelease(migrate.ReleaseOptions{})
	switch {
	case errors.Is(err, migrate.ErrOtherSource), errors.Is(err, migrate.ErrUndecided) && asked(res.Undecided) != "":
		return "asks"
	case unknown(s, err) != "":
		return "refuses"
	case res.Withdrawn > 0:
		return "withdraws"
	case res.HandedOver > others:
		return "hands over"
	}
	return "–"
}
