package daemons_test

import (
	"strings"
	"testing"

	"mrtq/harness/daemons"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// named returns the records and batches that the plan names because of the services'
// demands. blocking returns only those that no service could work on.
func (s *site) named(t *testing.T, blocking bool) map[string]bool {
	t.Helper()
	tree, all := s.tree(t), map[string]bool{}
	for _, f := range s.plan.Services {
		for _, i := range f.Items {
			if blocking && !f.Blocking {
				continue
			}
			all[i.Path] = true
			if n := tree.Get(i.Path); znode.Parent(i.Path) == newqueue.BatchUUIDsPath && n != nil {
				all[newqueue.BatchPath(string(n.Data))] = true
			}
		}
	}
	return all
}

// records returns the records by the paths of their jobs and requests.
func (s *site) records(t *testing.T) map[string]migrate.PlanRecord {
	t.Helper()
	all := map[string]migrate.PlanRecord{}
	for _, r := range value(migrate.MakePlan(t.Context(), s.source(t), &s.open(t).Reader, options()))(t).Records {
		if r.Job != "" {
			all[r.Job] = r
		}
	}
	return all
}

// Everything that is migrated in dialect mrt-zk meets every demand, except the items
// that the plan named. The services finish all of it, and report each batch once.
func TestServicesFinishMigratedQueues(t *testing.T) {
	for name, legacyQueue := range corpora(t) {
		t.Run(name, func(t *testing.T) {
			s := migrated(t, legacyQueue)
			tree := s.tree(t)
			bad, all, records := s.named(t, true), s.named(t, false), s.records(t)
			inventory := map[string]bool{} // batches of inventory records
			for job, r := range records {
				if r.Queue == migrate.Inventory {
					inventory[batchOf(tree, job)] = true
				}
			}
			for _, v := range services.Check(tree) {
				if !all[records[v.Item].Path] && !all[v.Item] && !inventory[v.Item] {
					t.Errorf("the plan did not name %s", v)
				}
			}

			w := s.services(t)
			for _, job := range jobs(tree, "Held") {
				must(t, w.Do(daemons.ReleaseJob, strings.TrimPrefix(job, "/jobs/")))
			}
			for _, job := range jobs(tree, "Failed") {
				must(t, w.Do(daemons.RequeueJob, strings.TrimPrefix(job, "/jobs/")))
			}
			atFirst := value(w.States("/batches"))(t)
			must(t, w.Run())
			for bid, state := range atFirst {
				if state == "Failed" && !bad["/batches/"+bid] && !inventory["/batches/"+bid] {
					must(t, w.Do(daemons.UpdateReport, bid))
				}
			}
			must(t, w.Run())
			must(t, w.Leftovers())

			for jid, state := range value(w.States("/jobs"))(t) {
				item := "/jobs/" + jid
				if state != "Completed" && state != "Deleted" && !bad[records[item].Path] {
					t.Errorf("%s (%s) ends %s: %v", item, records[item].Path, state, w.Of(item))
				}
			}
			for _, trouble := range w.Troubles {
				if !bad[trouble.Item] && !bad[records[trouble.Item].Path] && !inventory[trouble.Item] {
					t.Errorf("the plan did not name %s (%s)", trouble, records[trouble.Item].Path)
				}
			}
			mails := map[string]int{}
			for _, m := range w.Mails {
				mails[m.Batch]++
			}
			for bid, state := range atFirst {
				if bad["/batches/"+bid] || inventory["/batches/"+bid] {
					continue
				}
				want := 1
				if state == "Completed" {
					want = 0
				}
				if mails[bid] != want {
					t.Errorf("batch %s, migrated as %s, was mailed %d times, want %d", bid, state, mails[bid], want)
				}
			}
			for _, q := range newqueue.AccessQueues {
				for qid, state := range value(w.States(newqueue.AccessQueuePath(q)))(t) {
					if path := newqueue.AccessRequestPath(q, qid); state != "Completed" && state != "Deleted" && state != "Failed" && !bad[records[path].Path] {
						t.Errorf("%s (%s) ends %s: %v", path, records[path].Path, state, w.Of(path))
					}
				}
			}
		})
	}
}

// For each bad item the plan names the daemon that fails first, and the effect. Both
// come true.
func TestPlanPredictsWhatTheServicesDo(t *testing.T) {
	for name, legacyQueue := range corpora(t) {
		t.Run(name, func(t *testing.T) {
			s := migrated(t, legacyQueue)
			tree := s.tree(t)
			w := s.services(t)
			violations := services.Check(tree)
			for _, job := range jobs(tree, "Failed") {
				must(t, w.Do(daemons.RequeueJob, strings.TrimPrefix(job, "/jobs/")))
			}
			for _, job := range jobs(tree, "Held") {
				must(t, w.Do(daemons.ReleaseJob, strings.TrimPrefix(job, "/jobs/")))
			}
			must(t, w.Run())
			must(t, w.Leftovers())
			first := map[string]daemons.Trouble{}
			for _, trouble := range w.Troubles {
				if _, there := first[trouble.Item]; !there {
					first[trouble.Item] = trouble
				}
			}
			predicted := map[string]bool{}
			for _, v := range violations {
				if got, there := first[v.Item]; there && got.Daemon == v.Stop.Daemon && got.Effect == v.Stop.Effect {
					predicted[v.Item] = true
				}
			}
			for item, trouble := range first {
				if !predicted[item] {
					t.Errorf("nothing predicted %s", trouble)
				}
			}
			if name == "as deployed" && len(w.Troubles) > 0 {
				t.Errorf("the services have troubles with records that deployed services wrote: %v", w.Troubles)
			}
		})
	}
}

// The hourly cleanup removes everything that was completed, even while the queues
// are held.
func TestCleanupIgnoresHolds(t *testing.T) {
	s := migrated(t, deployed(t))
	w := daemons.New(daemons.Options{New: s.place(t)})
	t.Cleanup(w.Close)
	must(t, w.Run())
	if len(w.Took) > 0 || len(w.Mails) > 0 {
		t.Errorf("the queues are held, but the services did %v and mailed %v", w.Took, w.Mails)
	}
	predicted := map[string]bool{}
	for _, n := range services.Notices(s.tree(t)) {
		if n.Kind == services.RemovedSoon {
			predicted[strings.TrimPrefix(n.Item, "/batches/")] = true
		}
	}
	must(t, w.Clean())
	if len(w.Removed) == 0 || len(w.Removed) != len(predicted) {
		t.Errorf("removed %v, predicted %v", w.Removed, predicted)
	}
	for _, bid := range w.Removed {
		if !predicted[bid] {
			t.Errorf("removed %s, which nothing predicted", bid)
		}
	}
}
