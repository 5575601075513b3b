package migrate_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

type refusing struct {
	*site
	release  migrate.ReleaseOptions
	rollback migrate.RollbackOptions
}

// reason is why a command refuses, and what ends it: a repair, or the word of the printed command.
type reason struct {
	name       string
	is         error
	shows      migration.DifferenceGroup // what a verification names it as, instead of is
	after      bool                      // it is known only when the command has verified, or done what it could
	first      bool                      // the others may be known only when it has ended
	bring, end func(r *refusing)
	ends       []string // other reasons that end with it
}

var unknownRecord = reason{
	name: "a decision about no record", is: migrate.ErrNotFound,
	bring: func(r *refusing) { r.decide("/ingest/none", migration.AnswerNew) },
	end: func(r *refusing) {
		delete(r.release.RecordIs, "/ingest/none")
		delete(r.rollback.RecordIs, "/ingest/none")
	},
}

var noRight = reason{
	name: "no right", is: migrate.ErrNoPermission,
	bring: func(r *refusing) { r.may("/accessLarge.1", zk.PermRead|zk.PermAdmin) },
	end:   func(r *refusing) { r.may("/accessLarge.1", zk.PermAll) },
}

var wasRestored = reason{
	name: "restored", is: migrate.ErrRestored, shows: migration.RestoredGroup,
	bring: func(r *refusing) { r.set(firstRun, r.data(firstRun)) },
	end:   func(r *refusing) { r.release.Restored, r.rollback.Restored = true, true },
}

// reasons are why each command refuses, in the order in which they can be brought. They are ended in the other order.
var reasons = map[string][]reason{
	"release": {
		{name: "unfinished", is: migrate.ErrUnfinished, first: true,
			bring: func(*refusing) {}, // it is from the beginning
			end:   func(r *refusing) { opt := r.options(); opt.Restored = true; r.mustMigrate(opt) },
			ends:  []string{"restored"}},
		{name: "a queue is gone", is: migrate.ErrOtherSource,
			bring: func(r *refusing) { r.remove("/accessSmall.1") },
			end:   func(r *refusing) { r.decide(accessRecord, migration.AnswerNew) }},
		noRight,
		unknownRecord,
		{name: "damage", is: migrate.ErrNotVerified, shows: migration.DamageGroup, after: true,
			bring: func(r *refusing) { r.remove(r.jobOf(ingest(1)) + "/priority") },
			end:   func(r *refusing) { r.create(r.jobOf(ingest(1))+"/priority", []byte("5")) }},
		{name: "undecided", is: migrate.ErrUndecided, shows: migration.UndecidedGroup, after: true,
			bring: func(r *refusing) { r.remove(ingest(2)) },
			end:   func(r *refusing) { r.decide(ingest(2), migration.AnswerLegacy) }},
		{name: "at work", is: migrate.ErrAtWork, after: true,
			bring: func(r *refusing) { r.create(ingest(9), record(r.t, legacy.Consumed, job("late", "9"))) },
			end:   func(r *refusing) { r.release.WorkersStopped = 1 }},
		func() reason { r := wasRestored; r.after = true; return r }(),
	},
	"rollback": {
		noRight,
		unknownRecord,
		{name: "a queue is gone", is: migrate.ErrQueueGone,
			bring: func(r *refusing) { r.remove("/accessSmall.1") },
			end:   func(r *refusing) { r.create("/accessSmall.1", nil) }},
		{name: "undecided", is: migrate.ErrUndecided, after: true,
			bring: func(r *refusing) { r.create(ingest(2), record(r.t, legacy.Completed, job("0", "2"))) },
			end:   func(r *refusing) { r.decide(ingest(2), migration.AnswerNew) }},
		{name: "at work", is: migrate.ErrAtWork, after: true,
			bring: func(r *refusing) {
				r.must(errorOf(r.door().Create(r.jobOf(ingest(1))+"/lock", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))))
			},
			end: func(r *refusing) { r.remove(r.jobOf(ingest(1)) + "/lock") }},
		wasRestored,
	},
}

func (r *refusing) decide(record string, a migration.Answer) {
	for _, d := range []*migrate.Decisions{&r.release.Decisions, &r.rollback.Decisions} {
		if d.RecordIs == nil {
			d.RecordIs = map[string]migration.Answer{}
		}
		d.RecordIs[record] = a
	}
}

func (r *refusing) may(path string, perms int32) {
	r.setACL(path, zk.WorldACL(perms))
}

func (r *refusing) run(command string) (named func(reason) bool, err error) {
	var shown *migration.Verdict
	atWork := false
	switch command {
	case "release":
		var res *migrate.ReleaseResult
		res, err = migrate.Release(r.t.Context(), r.w, r.release)
		if atWork = res != nil && len(res.AtWork) > 0; res != nil && res.Verdict != nil && (errors.Is(err, migrate.ErrNotVerified) || errors.Is(err, migrate.ErrRestored)) {
			shown = res.Verdict
		}
	case "rollback":
		_, err = migrate.Rollback(r.t.Context(), r.w, r.rollback)
	}
	return func(why reason) bool {
		return errors.Is(err, why.is) || shown != nil && why.shows != "" && shown.CountGroup(why.shows) > 0 || why.is == migrate.ErrAtWork && atWork
	}, err
}

// A command that refuses because of two reasons names both, unless one of them is known only later, and what ends one
// leads on: to the other, or to the end.
func TestEveryReasonIsNamed(t *testing.T) {
	for command, all := range reasons {
		for i, a := range all {
			for _, b := range all[i+1:] {
				if a.first && b.is == migrate.ErrNoPermission {
					continue // migrate, which ends the first, names it
				}
				t.Run(fmt.Sprintf("%s: %s and %s", command, a.name, b.name), func(t *testing.T) {
					t.Parallel()
					records := pendings(t, 3, 3)
					records[accessRecord] = record(t, legacy.Pending, token("t"))
					s := serve(t, queueTree(t, records), newqueue.MrtZK)
					r := &refusing{s, migrate.ReleaseOptions{Decisions: migrate.Decisions{Save: s.save}}, migrate.RollbackOptions{Decisions: migrate.Decisions{Save: s.save}}}
					if a.first {
						r.interrupted(4)
					} else {
						r.mustMigrate(r.options())
					}
					if command != "release" {
						r.site.release()
					}
					a.bring(r)
					b.bring(r)
					for left := []reason{a, b}; ; {
						named, err := r.run(command)
						if err == nil && len(left) == 0 {
							return
						}
						var says []reason
						for _, why := range left {
							if named(why) {
								says = append(says, why)
							}
						}
						if len(says) == 0 || len(says) < len(left) && a.after == b.after && !a.first {
							t.Fatalf("left are %d reasons, and it names %d: %v", len(left), len(says), err)
						}
						last := says[len(says)-1]
						last.end(r)
						left = slices.DeleteFunc(left, func(why reason) bool { return why.name == last.name || slices.Contains(last.ends, why.name) })
					}
				})
			}
		}
	}
}
