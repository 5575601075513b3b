package migration

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/harness/internal/session"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// start returns the scenario's services, which it starts when it is first called.
func (w *world) start() (*daemons.World, error) {
	if w.services != nil {
		return w.services, nil
	}
	home, err := w.home()
	if err != nil {
		return nil, err
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
		Home: home, Dialect: newqueue.Dialect(w.dialect),
	})
	return w.services, w.services.Start()
}

// home returns the folders of the jobs, as they were before the first release, which empties the
// legacy queue. The legacy service had begun with the failed and the consumed jobs, so it had moved
// their payload, unless the scenario says otherwise.
func (w *world) home() (*daemons.Home, error) {
	if w.folders != nil {
		return w.folders, nil
	}
	home := daemons.NewHome()
	w.folders = home
	names, _, err := w.conn.Children(w.root + "/legacy/ingest")
	if errors.Is(err, zk.ErrNoNode) {
		return home, nil
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, _, err := w.conn.Get(w.root + "/legacy/ingest/" + name)
		if err != nil {
			return nil, err
		}
		r, err := legacy.Decode(name, data, legacy.Options{})
		if err != nil || r.Header.Status != legacy.Failed && r.Header.Status != legacy.Consumed {
			continue
		}
		batch, _ := r.Payload.Text("batchID")
		job, _ := r.Payload.Text("jobID")
		home.Put(batch, job, cmp.Or(w.payload, daemons.InProducer))
	}
	return home, nil
}

func (w *world) liftHolds() error {
	if _, err := w.start(); err != nil {
		return err
	}
	// Nobody works on what the legacy workers left consumed or locked.
	return all(w.run("release TARGET --workers-stopped 1000"), w.wantCode(0), w.runServices())
}

func (w *world) clean() error {
	s, err := w.start()
	if err != nil {
		return err
	}
	return s.Clean()
}

func (w *world) runServices() error {
	s, err := w.start()
	if err != nil {
		return err
	}
	if w.batches == nil {
		if w.batches, err = s.States(newqueue.BatchesPath); err != nil {
			return err
		}
	}
	return all(s.Run(), s.Leftovers())
}

func (w *world) administer() error {
	return w.doTo(newqueue.JobsPath, map[string]daemons.Action{"held": daemons.ReleaseJob, "failed": daemons.RequeueJob})
}

// reportFailed asks for an update report of each batch that had failed before the services
// started.
func (w *world) reportFailed() error {
	for bid, state := range w.batches {
		if state == "Failed" {
			if err := w.services.Do(daemons.UpdateReport, bid); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) saysReaders() error {
	if !strings.Contains(w.planned.Readers, "the deployed services") {
		return fmt.Errorf("it says %q", w.planned.Readers)
	}
	return nil
}

// planSays compares the effects that the plan names. The Then lists them in alphabetical
// order.
func (w *world) planSays(want string) error {
	var then []string
	for _, f := range w.planned.Services {
		if !slices.Contains(then, f.Then) {
			then = append(then, f.Then)
		}
	}
	slices.Sort(then)
	got := strings.Join(then, ", ")
	if got == "" {
		got = "nothing"
	}
	if got != want {
		return fmt.Errorf("the plan says %q", got)
	}
	return nil
}

// named returns the paths that the plan names: records, the jobs or requests that they
// became, and batches. The job of an inventory record is in a batch that the run creates.
func (w *world) named() map[string]bool {
	named := map[string]bool{}
	for _, f := range w.planned.Services {
		for _, i := range f.Items {
			if f.Blocking {
				named[i.Path] = true
			}
		}
	}
	for path, record := range w.items {
		if !named[record] {
			continue
		}
		named[path] = true
		if bid, _, err := w.conn.Get(w.root + "/new" + path + "/bid"); err == nil {
			named["/batches/"+string(bid)] = named["/batches/"+string(bid)] || strings.HasPrefix(record, "/mrt.inventory")
		}
	}
	return named
}

func (w *world) jobsCompleted(but map[string]bool) error {
	jobs, err := w.services.States(newqueue.JobsPath)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		return fmt.Errorf("there are no jobs")
	}
	for jid, state := range jobs {
		if state != "Completed" && state != "Deleted" && !but["/jobs/"+jid] {
			return fmt.Errorf("%s is %s: %v", jid, state, w.services.Of("/jobs/"+jid))
		}
	}
	return nil
}

func (w *world) troubles(but map[string]bool) error {
	for _, t := range w.services.Troubles {
		if !but[t.Item] {
			return fmt.Errorf("%s", t)
		}
	}
	return nil
}

func (w *world) reportedOnce() error {
	mails := map[string]int{}
	for _, m := range w.services.Mails {
		mails[m.Batch]++
	}
	for bid, state := range w.batches {
		want := 1
		if state == "Completed" {
			want = 0
		}
		if mails[bid] != want {
			return fmt.Errorf("batch %s, %s before, was reported %d times", bid, state, mails[bid])
		}
	}
	return nil
}

func (w *world) nothingLeft() error {
	jobs, err := w.services.States(newqueue.JobsPath)
	batches, batchErr := w.services.States(newqueue.BatchesPath)
	if err := all(err, batchErr); err != nil {
		return err
	}
	if len(jobs)+len(batches) > 0 {
		return fmt.Errorf("left: %v %v", batches, jobs)
	}
	return nil
}

// item returns the path of the job or request that the scenario's only record became.
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
	want := strings.Fields(who)
	switch who {
	case "all":
		want = strings.Fields("Initialize Estimate Provision Download Process Store Inventory Notify")
	case "no one":
		want = nil
	}
	var got []string
	for _, d := range w.services.Took[item] {
		got = append(got, string(d))
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s was taken by %v: %v", item, got, w.services.Troubles)
	}
	return nil
}

func (w *world) ends(want string) error {
	item, err := w.item()
	if err != nil {
		return err
	}
	data, _, err := w.conn.Get(w.root + "/new" + item + "/status")
	if errors.Is(err, zk.ErrNoNode) && want == "removed" {
		return nil
	}
	if err != nil {
		return err
	}
	var status struct{ Status string }
	if err := json.Unmarshal(data, &status); err != nil || status.Status != want {
		return fmt.Errorf("%s ends %s: %v", item, data, w.services.Of(item))
	}
	return nil
}

// stored says how the object of the scenario's only record was stored.
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
	if got != want {
		return fmt.Errorf("it was stored %s", got)
	}
	return nil
}

func (w *world) reportSent(times string) error {
	if n := len(w.services.Mails); n != map[string]int{"once": 1, "never": 0}[times] {
		return fmt.Errorf("%d mails were sent: %v", n, w.services.Mails)
	}
	return nil
}

func (w *world) tookNothing() error {
	if s := w.services; len(s.Took)+len(s.Begun)+len(s.Mails) > 0 {
		return fmt.Errorf("they took %v and %v, and sent %v", s.Took, s.Begun, s.Mails)
	}
	return nil
}

func (w *world) removedAsSaid() error {
	var said []string
	for _, f := range w.planned.Services {
		for _, i := range f.Items {
			if f.Requirement == "removed-soon" {
				said = append(said, i.Path)
			}
		}
	}
	var removed []string
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
