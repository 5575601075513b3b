package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

func (s *site) holdsNow() string {
	var all []string
	for _, h := range s.status().Holds {
		var by []string
		for _, o := range h.Owners {
			by = append(by, o.By)
		}
		all = append(all, znode.Name(h.Path)+"="+strings.Join(by, "+"))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func (s *site) hold(by string, queues ...newqueue.QueueHold) {
	s.t.Helper()
	s.must(errorOf(migrate.Hold(s.t.Context(), s.w, migrate.HoldOptions{Queues: queues, By: by, Why: "checking"})))
}

// completes ends the run that stands, and a person holds the queues: so another run can begin.
func (s *site) completes() {
	s.t.Helper()
	s.release()
	s.must(errorOf(migrate.Complete(s.t.Context(), s.w, migrate.CompleteOptions{})))
	s.hold("ops", newqueue.QueueHolds...)
}

const run0 = "run0000000000"

// A release lifts the parts of the holds that runs own, and only of the queues that are
// asked for. Other owners' parts stay, unless Others is set. It says what is left. TestPlanLift has more combinations.
func TestReleaseLiftsOwners(t *testing.T) {
	held := "accessLarge=" + run0 + " accessSmall=" + run0 + " ingest=" + run0
	for _, c := range []struct {
		name   string
		before func(s *site)
		opt    migrate.ReleaseOptions
		lifted int
		after  string
	}{
		{"all", func(*site) {}, migrate.ReleaseOptions{}, 3, ""},
		{"a person holds one too", func(s *site) { s.hold("ops", newqueue.HoldIngest) }, migrate.ReleaseOptions{}, 2, "ingest=ops"},
		{"and that is lifted", func(s *site) { s.release(); s.hold("ops", newqueue.HoldIngest) }, migrate.ReleaseOptions{Others: true}, 1, ""},
		{"another tool holds one again", func(s *site) { s.remove("/locks/queue/ingest"); s.create("/locks/queue/ingest", nil) }, migrate.ReleaseOptions{}, 2, "ingest=unknown"},
		{"two runs hold", func(s *site) {
			s.release()
			s.fails()
			s.mustRollback(migrate.RollbackOptions{})
			s.mustMigrate(s.options())
		}, migrate.ReleaseOptions{}, 3, ""},
		{"a collection", func(s *site) {
			s.must(errorOf(migrate.Hold(t.Context(), s.w, migrate.HoldOptions{Collections: []string{"demo content"}, By: "ops"})))
		}, migrate.ReleaseOptions{Collections: []string{"demo content"}}, 1, held},
		{"nothing is held", func(s *site) { s.remove("/locks") }, migrate.ReleaseOptions{}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			c.before(s)
			res := value(s.tryRelease(c.opt))(s)
			if len(res.Lifted) != c.lifted || s.holdsNow() != c.after {
				t.Errorf("lifted %v, and now %q is held, expected %q", res.Lifted, s.holdsNow(), c.after)
			}
			if left := len(strings.Fields(c.after)); len(res.Left) != left {
				t.Errorf("it says that %d are left: %+v", left, res.Left)
			}
			again, err := s.tryRelease(c.opt)
			if err != nil || len(again.Lifted) != 0 || again.Verdict != nil {
				t.Errorf("again: %+v, %v", again, err)
			}
			s.mustVerify()
			for _, p := range merritt.Problems(s.tree(), s.dialect) {
				t.Errorf("layout: %s", p)
			}
		})
	}
}

// The record of each run says when which of its queues were released.
func TestReleaseIsRecorded(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	s.release(newqueue.HoldAccessLarge)
	s.release(newqueue.HoldIngest)
	s.release()
	for _, run := range s.status().Runs {
		var got []string
		for _, r := range run.Releases {
			got = append(got, fmt.Sprint(r.Queues, r.At.Equal(moment()), r.By != ""))
		}
		if want := []string{"[accessLarge] true true", "[ingest] true true", "[accessSmall] true true"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, expected %q", run.ID, got, want)
		}
	}
}

// Only what concerns a queue refuses its release.
func TestReleaseOfOneQueue(t *testing.T) {
	s := serve(t, lifeQueue(t), newqueue.MrtZK)
	s.mustMigrate(s.options())
	s.remove(s.jobOf(pendingRecord) + "/priority")
	if _, err := s.tryRelease(migrate.ReleaseOptions{Queues: []newqueue.QueueHold{newqueue.HoldIngest}}); !errors.Is(err, migrate.ErrNotVerified) {
		t.Errorf("ingest: %v", err)
	}
	if _, err := s.tryRelease(migrate.ReleaseOptions{Queues: []newqueue.QueueHold{newqueue.HoldAccessSmall}}); err != nil {
		t.Errorf("access: %v", err)
	}
	// Both access queues count as released now, because the large worker takes small requests.
	if v := s.verify(); !slices.Equal(v.Released, []newqueue.QueueHold{newqueue.HoldAccessSmall, newqueue.HoldAccessLarge}) {
		t.Errorf("released: %v", v.Released)
	}
	s.set(s.jobOf(accessRecord)+"/status", s.data(s.jobOf(accessRecord)+"/status"))
	if v := s.verify(); v.Count("acted-on") != 0 {
		t.Errorf("%v", v.Differences)
	}
	for _, record := range []string{accessRecord, pendingRecord} {
		if handedOver := !s.has(record); handedOver != (record == accessRecord) {
			t.Errorf("%s was handed over: %t", record, handedOver)
		}
	}
}

// Holds of people: on queues and collections, one owner more for each, never one twice. A target without a queue has
// nothing to hold.
func TestHold(t *testing.T) {
	s := serve(t, queueTree(t, nil), newqueue.Design)
	if _, err := migrate.Hold(t.Context(), s.w, migrate.HoldOptions{By: "ops"}); !errors.Is(err, migrate.ErrNoQueue) {
		t.Errorf("without a queue: %v", err)
	}
	s.must(s.queue().Init(t.Context()))
	for range 2 {
		held, err := migrate.Hold(t.Context(), s.w, migrate.HoldOptions{By: "ops", Why: "checking"})
		if err != nil || len(held.Held) != 3 {
			t.Errorf("%+v, %v", held, err)
		}
	}
	s.hold("alice", newqueue.HoldIngest)
	if got, want := s.holdsNow(), "accessLarge=ops accessSmall=ops ingest=ops+alice"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	for _, h := range s.status().Holds {
		if o := h.Owners[0]; o.Why != "checking" || !o.At.Equal(moment()) {
			t.Errorf("%+v", h)
		}
	}
	if held, err := s.queue().IsLocked(t.Context(), newqueue.QueueLock(newqueue.HoldIngest)); err != nil || !held {
		t.Errorf("a worker sees no hold: %v", err)
	}
	if _, err := s.queue().AcquireJob(t.Context(), newqueue.JobPending); !errors.Is(err, client.ErrHeld) {
		t.Errorf("a worker is not stopped: %v", err)
	}
	for _, name := range []string{"demo content", "ünïcode"} {
		held, err := migrate.Hold(t.Context(), s.w, migrate.HoldOptions{Collections: []string{name}, By: "ops"})
		if err != nil || !slices.Equal(held.Held, []string{"/locks/collections/" + name}) {
			t.Errorf("%+v, %v", held, err)
		}
	}
	if held, err := s.queue().IsLocked(t.Context(), newqueue.CollectionLock("demo content")); err != nil || !held {
		t.Errorf("a worker sees no hold on the collection: %v", err)
	}
}

// A rival removes the folder of the holds, before each transaction of the hold. It may also make it again, for ever.
func TestHoldWithoutFolder(t *testing.T) {
	for _, c := range []struct {
		name  string
		again bool
		want  string
	}{
		{"removed", false, "<nil>"},
		{"removed and made again", true, "other clients keep writing to the target: create /locks/queue: the znode exists"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			s := serve(t, queueTree(t, nil), newqueue.Design)
			s.must(s.queue().Init(t.Context()))
			const folder = "/locks/queue"
			s.ensure("/locks", folder)
			s.beforeEach(func(op minizk.Op) bool { return op.Session == s.session && op.Write }, func(int) {
				if err := s.door().Delete(folder, -1); errors.Is(err, zk.ErrNoNode) && c.again {
					s.create(folder, nil)
				}
			})
			_, err := migrate.Hold(ctx, s.w, migrate.HoldOptions{Queues: []newqueue.QueueHold{newqueue.HoldIngest}, By: "ops"})
			if c.again != errors.Is(err, migrate.ErrContended) || fmt.Sprint(err) != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if held := s.has(folder + "/ingest"); held == c.again {
				t.Errorf("held: %t", held)
			}
		})
	}
}

// Two people hold at the same time, and one loses an answer: both are owners in the end.
func TestHoldAtOnce(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 1, 1)), newqueue.Design)
	s.mustMigrate(s.options())
	errs := make(chan error)
	const people = 8
	for i := range people {
		o := s.operator()
		go func() {
			_, err := migrate.Hold(t.Context(), o.w, migrate.HoldOptions{By: fmt.Sprint("person ", i)})
			errs <- err
		}()
	}
	for range people {
		s.must(<-errs)
	}
	if owners := s.status().Holds[0].Owners; len(owners) != people+1 {
		t.Errorf("%+v", owners)
	}
}

// A collection that no batch is of may be misspelt: hold says which are there.
func TestHoldOfAnUnknownCollection(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		other := job("b", "2")
		other["profile"] = "other_content"
		s := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Pending, job("a", "1")), ingest(2): record(t, legacy.Pending, other)}), d)
		s.mustMigrate(s.options())
		held := value(migrate.Hold(t.Context(), s.w, migrate.HoldOptions{Collections: []string{"other_content", "merrit_content"}, By: "ops"}))(s)
		if len(held.Held) != 2 || !slices.Equal(held.Unknown, []string{"merrit_content"}) || !slices.Equal(held.Profiles, []string{"merritt_content", "other_content"}) {
			t.Errorf("%+v", held)
		}
	})
}
