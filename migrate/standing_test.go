package migrate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// subject is the record of which all commands must say the same. Two others of its batch stay as they are.
const (
	subject = "/ingest/mrtQ-05000000000002"
	others  = 2
)

var standings = []struct {
	name     string
	released bool // all records were handed over before
	happens  func(*site)
	is       string // what plan, show, status and verify say
	release  string // what a release does
	back     string // what a rollback does
}{
	{"nothing happened", false, func(*site) {}, "as migrated", "hands over", "withdraws"},
	{"a legacy worker finished it", false, finishes, "changed", "withdraws", "withdraws"},
	{"it was deleted and created again with the same bytes", false, func(s *site) {
		data := s.data(subject)
		s.remove(subject)
		s.create(subject, data)
	}, "changed", "withdraws", "withdraws"},
	{"it was deleted", false, deletes, "absent", "asks", "asks"},
	{"it was deleted, and another record has its name", false, both(deletes, another), "absent", "asks", "asks"},
	{"it was requeued before, and then deleted", false, deletes, "absent", "asks", "asks"},
	{"an administrator renamed it", false, renames, "renamed", "withdraws", "withdraws"},
	{"an administrator renamed it, and another record has its name", false, both(renames, another), "renamed", "withdraws", "withdraws"},
	{"it and another record have each other's names", false, func(s *site) {
		s.rename(ingest(1), ingest(77))
		s.rename(subject, ingest(1))
		s.rename(ingest(77), subject)
	}, "renamed", "withdraws", "withdraws"},
	{"a legacy worker took it and requeued it under another name", false, func(s *site) {
		s.create("/ingest/mrtQ-05000000000099", record(s.t, legacy.Held, job("0", "2")))
		s.remove(subject)
	}, "renamed", "withdraws", "withdraws"},
	{"another target has taken it, and it was submitted again under another name", false, func(s *site) {
		data, other := s.data(subject), s.beside("/other")
		other.mustMigrate(other.options())
		other.release()
		s.create("/ingest/mrtQ-05000000000099", data)
	}, "taken", "asks", "asks"},
	{"its queue was made again, and its bytes were put back", false, func(s *site) { s.queueAgain(s.data(subject)) }, "changed", "withdraws", "withdraws"},
	{"its queue was made again, and a new record has its name", false, func(s *site) { s.queueAgain(record(s.t, legacy.Pending, job("late", "99"))) }, "absent", "asks", "asks"},
	{"nobody may read it", false, func(s *site) { s.setACL(subject, zk.DigestACL(zk.PermAll, "ingest", "secret")) }, "unknown", "refuses", "refuses"},

	{"its job was begun", false, begins, "as migrated", "hands over", "keeps"},
	{"its job was removed", false, removesJob, "as migrated", "asks", "asks"},
	{"a legacy worker finished it, and its job was begun", false, both(finishes, begins), "changed", "asks", "asks"},
	{"a legacy worker finished it, and its job was removed", false, both(finishes, removesJob), "changed", "withdraws", "withdraws"},
	{"it was deleted, and its job was begun", false, both(deletes, begins), "absent", "marks", "keeps"},
	{"it was deleted, and its job was removed", false, both(deletes, removesJob), "absent", "marks", "withdraws"},
	{"an administrator renamed it, and its job was begun", false, both(renames, begins), "renamed", "asks", "asks"},
	{"an administrator renamed it, and its job was removed", false, both(renames, removesJob), "renamed", "withdraws", "withdraws"},
	{"it was finished before", false, func(*site) {}, "as migrated", "hands over", "withdraws"},
	{"it was finished before, and its job was removed", false, removesJob, "as migrated", "hands over", "withdraws"},
	{"it was finished before, and it was deleted", false, deletes, "absent", "marks", "withdraws"},

	{"it came late", false, func(s *site) {}, "not migrated", "–", "–"},
	{"it came late, and nobody may read it", false, func(s *site) { s.setACL(subject, zk.DigestACL(zk.PermAll, "ingest", "secret")) }, "unknown", "refuses", "–"},

	{"it was handed over", true, func(*site) {}, "handed over", "–", "gives back"},
	{"it was handed over, and its job was begun", true, begins, "handed over", "–", "keeps"},
	{"it was handed over, and its job was removed", true, removesJob, "handed over", "–", "–"},
	{"it is there again", true, func(s *site) { s.create(subject, record(s.t, legacy.Pending, job("0", "2"))) }, "again", "asks", "gives back"},
	{"it is there again, and its job was begun", true, both(func(s *site) { s.create(subject, record(s.t, legacy.Pending, job("0", "2"))) }, begins), "again", "asks", "asks"},
	{"it is there again, and was changed", true, func(s *site) { s.create(subject, record(s.t, legacy.Completed, job("0", "2"))) }, "again", "asks", "asks"},
	{"after the release its queue was made again, and a new record has its name", true, func(s *site) { s.queueAgain(record(s.t, legacy.Pending, job("late", "99"))) }, "not migrated", "–", "keeps"},
	{"after the release another record has its name", true, another, "not migrated", "–", "keeps"},
}

func finishes(s *site) { s.set(subject, record(s.t, legacy.Completed, job("0", "2"))) }

func deletes(s *site) { s.remove(subject) }

func another(s *site) { s.create(subject, record(s.t, legacy.Pending, job("late", "99"))) }

func renames(s *site) { s.rename(subject, "/ingest/mrtQ-01000000000002") }

// begins lets a worker that ignores holds fail the subject's job.
func begins(s *site) {
	q := s.queue(client.IgnoreHolds())
	for {
		j := value(q.AcquireJob(s.t.Context(), newqueue.JobPending))(s)
		if newqueue.JobPath(j.ID) == s.jobOf(subject) {
			s.must(j.Fail(s.t.Context(), "bad digest"))
			return
		}
		defer func() { s.must(j.Unlock(s.t.Context())) }()
	}
}

// removesJob removes the subject's job, as an administrator does or the cleanup.
func removesJob(s *site) {
	job := s.jobOf(subject)
	s.must(removeAll(s.door(), job))
	for n := range s.tree().All("/") {
		if strings.HasSuffix(n.Path, znode.Name(job)) { // its entries
			s.remove(n.Path)
		}
	}
}

func both(a, b func(*site)) func(*site) {
	return func(s *site) { a(s); b(s) }
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
				if strings.Contains(row.name, "finished before") {
					records[subject] = record(t, legacy.Completed, job("0", "2"))
				}
				if strings.Contains(row.name, "requeued before") {
					records["/ingest/mrtQ-05000000000000"] = record(t, legacy.Deleted, job("0", "2"))
				}
				if strings.Contains(row.name, "late") {
					delete(records, subject)
				}
				s := serve(t, queueTree(t, records), d)
				opt := s.options()
				opt.Choices.Deleted = migration.Skip
				s.mustMigrate(opt)
				if records[subject] == nil {
					s.create(subject, late)
				}
				if row.released {
					s.release()
				}
				row.happens(s)
				inStatus, inVerify := row.is, row.is // these are about the queue that has the work
				switch {
				case row.is == "renamed":
					inStatus, inVerify = "changed", "changed"
				case row.release == "marks":
					inVerify = "as migrated"
				}
				for _, command := range []struct {
					name, want string
					says       func(*site) string
				}{
					{"plan", row.is, planSays}, {"show", row.is, showSays}, {"status", inStatus, statusSays}, {"verify", inVerify, verifySays},
					{"rollback", row.back, rollbackDoes}, {"release", row.release, releaseDoes}, // it comes last, because it writes
				} {
					got := command.says(s)
					if got == "removed" && strings.HasSuffix(row.name, "its job was removed") {
						continue
					}
					if got != command.want {
						t.Errorf("%s: %s, expected %s", command.name, got, command.want)
					}
				}
			})
		}
	})
}

func planSays(s *site) string {
	opt := s.options().PlanOptions
	p := s.plan(opt)
	renamed := slices.IndexFunc(p.Records, func(r migration.PlanRecord) bool { return strings.Contains(r.Reason, subject+" under another name") })
	switch {
	case renamed >= 0 && strings.Contains(p.Records[renamed].Reason, migration.QuestionTaken.Says()):
		return "taken"
	case renamed >= 0:
		return "renamed"
	}
	i := slices.IndexFunc(p.Records, func(r migration.PlanRecord) bool { return r.Path == subject })
	if i < 0 {
		if s.status().Newest().HandedOver > 0 {
			return "handed over"
		}
		return "absent"
	}
	switch r := p.Records[i]; r.Action {
	case migration.ActionCreate:
		if problem(p, migration.ProblemOtherOrigin) != nil {
			return "absent" // first somebody decides about the record that had its name
		}
		return "not migrated"
	case migration.ActionChanged:
		if strings.Contains(r.Reason, "handed over") {
			return "again"
		}
		return "changed"
	case migration.ActionBlock:
		return "unknown"
	case migration.ActionUnchanged:
		return "as migrated"
	default:
		return string(r.Action)
	}
}

func showSays(s *site) string {
	item := value(migrate.Find(s.t.Context(), &s.w.Reader, subject))(s)
	return strings.ReplaceAll(string(item.Standing), "-", " ")
}

func asked(undecided []migration.Note) string {
	for _, u := range undecided {
		if u.Record == subject {
			return map[migration.Question]string{migration.QuestionVanished: "absent", migration.QuestionTaken: "taken", migration.QuestionAgain: "again", migration.QuestionJobGone: "as migrated", migration.QuestionBoth: "changed"}[u.Question]
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
	case slices.Contains(l.AtLegacy, subject):
		return "changed"
	case slices.Contains(l.NotMigrated, subject):
		return "not migrated"
	case slices.Contains(l.Unreadable, subject):
		return "unknown"
	case st.Newest().HandedOver > others:
		return "handed over"
	case l.Migrated > others:
		return "as migrated"
	}
	return "absent" // nobody has to do anything
}

func verifySays(s *site) string {
	v, err := migrate.Verify(s.t.Context(), nil, &s.w.Reader, migrate.VerifyOptions{})
	if word := unknown(s, err); word != "" {
		return word
	}
	for _, d := range v.Differences {
		if d.Record == subject && d.Kind.Group() == migration.UndecidedGroup {
			return asked([]migration.Note{{Record: subject, Question: migration.Question(d.Kind)}})
		}
	}
	switch {
	case slices.ContainsFunc(v.Legacy, func(n migration.Note) bool { return n.Record == subject }):
		return "changed"
	case slices.Contains(v.NotMigrated, subject):
		return "not migrated"
	case slices.ContainsFunc(v.Removed, func(n migration.Note) bool { return n.Record == subject }):
		return "removed"
	case v.Due == 0 && v.Records.Migrated > others:
		return "handed over"
	case v.Records.Migrated > others:
		return "as migrated"
	}
	return "nothing"
}

func rollbackDoes(s *site) string {
	undo, err := migrate.PreviewRollback(s.t.Context(), &s.w.Reader, migrate.RollbackOptions{})
	switch {
	case errors.Is(err, migrate.ErrOtherSource): // all records of the queue are absent
		return "asks"
	case unknown(s, err) != "":
		return "refuses"
	case asked(undo.Undecided) != "":
		return "asks"
	case len(undo.Keeps) > 0:
		return "keeps"
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
	case res.Absent > 0:
		return "marks"
	}
	return "–"
}
