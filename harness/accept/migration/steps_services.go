package migration

// The steps with the deployed services.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mrtq/harness/daemons"
	"mrtq/harness/internal/session"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

func (w *world) start() (*daemons.World, error) {
	if w.services != nil {
		return w.services, nil
	}
	tree, err := w.tree("/new")
	if err != nil {
		return nil, err
	}
	w.items = itemsOf(tree, "")
	for _, uuid := range tree.Children(newqueue.BatchUUIDsPath) { // the plan names a batch by it
		path := newqueue.BatchUUIDsPath + "/" + uuid
		w.items[newqueue.BatchPath(string(tree.Get(path).Data))] = path
	}
	connect := func() (daemons.Session, error) { return session.Open(context.Background(), w.session) }
	w.services = daemons.New(daemons.Options{
		New: daemons.Site{Connect: connect, Root: w.root + "/new"}, Legacy: daemons.Site{Connect: connect, Root: w.root + "/legacy"},
		Home: w.home(), Dialect: newqueue.Dialect(w.dialect),
	})
	return w.services, w.services.Start()
}

// home returns the folders of the jobs. The legacy service had begun with the failed and the consumed
// jobs, so it had moved their payload, unless the scenario says otherwise.
func (w *world) home() *daemons.Home {
	home := daemons.NewHome()
	for _, name := range w.legacy.Children("/ingest") {
		r, err := legacy.Decode(name, w.legacy.Get("/ingest/"+name).Data, legacy.Options{})
		if err == nil && (r.Header.Status == legacy.Failed || r.Header.Status == legacy.Consumed) {
			batch, _ := r.Payload.Text("batchID")
			job, _ := r.Payload.Text("jobID")
			home.Put(batch, job, cmp.Or(w.payload, daemons.InProducer))
		}
	}
	return home
}

func (w *world) do(act func(*daemons.World) error) func() error {
	return func() error {
		s, err := w.start()
		if err != nil {
			return err
		}
		return act(s)
	}
}

func (w *world) liftHolds() error {
	if _, err := w.start(); err != nil {
		return err
	}
	// Nobody works on what the legacy workers left consumed or locked.
	return cmp.Or(w.run("release TARGET --workers-stopped 1000"), w.wantCode(0), w.runServices(w.services))
}

func (w *world) runServices(s *daemons.World) (err error) {
	if w.batches == nil {
		w.batches, err = s.States(newqueue.BatchesPath)
	}
	return cmp.Or(err, s.Run(), s.Leftovers())
}

func (w *world) doTo(folder, state string, do daemons.Action) error {
	items, err := w.services.States(folder)
	for id, is := range items {
		if strings.EqualFold(is, state) {
			err = cmp.Or(err, w.services.Do(do, id))
		}
	}
	return err
}

// planSays compares the effects that the plan names. The Then lists them in alphabetical
// order.
func (w *world) planSays(want string) error {
	var then []string
	for _, f := range w.planned.Findings {
		if f.Then != "" {
			then = append(then, f.Then)
		}
	}
	slices.Sort(then)
	return equal("says the plan", cmp.Or(strings.Join(slices.Compact(then), ", "), "nothing"), want)
}

func (w *world) jobsCompleted() error {
	jobs, err := w.services.States(newqueue.JobsPath)
	if err != nil || len(jobs) == 0 {
		return cmp.Or(err, errors.New("there are no jobs"))
	}
	for jid, state := range jobs {
		if state != "Completed" && state != "Deleted" {
			return fmt.Errorf("%s is %s: %v", jid, state, w.services.Of("/jobs/"+jid))
		}
	}
	return nil
}

func (w *world) reportedOnce() error {
	mails := map[string]int{}
	for _, m := range w.services.Emails {
		mails[m.Batch]++
	}
	for bid, state := range w.batches {
		if mails[bid] != 1 && state != "Completed" || mails[bid] != 0 && state == "Completed" {
			return fmt.Errorf("batch %s, %s before, was reported %d times", bid, state, mails[bid])
		}
	}
	return nil
}

func (w *world) item() (string, error) {
	for path, record := range w.items {
		if record == w.record {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s was not migrated", w.record)
}

func (w *world) takenBy(who string) error {
	item, err := w.item()
	if err != nil {
		return err
	}
	got := []string{}
	for _, d := range w.services.Took[item] {
		got = append(got, string(d))
	}
	all := "Initialize Estimate Provision Download Process Store Inventory Notify"
	want := strings.NewReplacer("all", all, "no one", "").Replace(who)
	return equal(fmt.Sprintf("took %s (%v)", item, w.services.Troubles), strings.Join(got, " "), want)
}

func (w *world) ends(want string) error {
	item, err := w.item()
	if err != nil {
		return err
	}
	states, err := w.services.States(znode.Parent(item))
	state := cmp.Or(states[znode.Name(item)], "removed")
	return cmp.Or(err, equal(fmt.Sprintf("is how %s ends (%v)", item, w.services.Of(item)), state, want))
}

func (w *world) stored(want string) error {
	got := "never"
	for _, e := range w.services.Executions() {
		switch {
		case e.Times() > 1:
			return fmt.Errorf("it was stored more than once: %+v", e)
		case e.Stored > 0:
			got = "with its content"
		case e.StoredEmpty > 0:
			got = "without its content"
		}
	}
	return equal("was it stored", got, want)
}

func (w *world) tookNothing() error {
	if s := w.services; len(s.Took)+len(s.Begun)+len(s.Emails) > 0 {
		return fmt.Errorf("they took %v and %v, and sent %v", s.Took, s.Begun, s.Emails)
	}
	return nil
}

func (w *world) removedAsSaid() error {
	var said, removed []string
	for _, f := range w.planned.Findings {
		for _, i := range f.Items {
			if f.Kind == "removed-soon" {
				said = append(said, i.Path)
			}
		}
	}
	for _, bid := range w.services.Removed {
		removed = append(removed, w.items[newqueue.BatchPath(bid)])
	}
	slices.Sort(said)
	slices.Sort(removed)
	if len(said) == 0 || !slices.Equal(said, removed) {
		return fmt.Errorf("the cleanup removed %v, but the plan said %v", removed, said)
	}
	return nil
}
