package rehearse_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/harness/daemons"
	"mrtq/harness/minizk"
	"mrtq/harness/rehearse"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readCopy(t *testing.T, tree *znode.Tree, queues migration.Queues) (*rehearse.Copy, error) {
	t.Helper()
	s, err := minizk.Start(minizk.Options{Private: true, RealTime: true})
	must(t, err)
	defer s.Close()
	must(t, s.Load(tree))
	r, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{"private:0"}}, Dial: s.Dial})
	must(t, err)
	defer r.Close()
	src, err := migrate.OpenSource(t.Context(), r, queues, legacy.Options{})
	must(t, err)
	defer func() {
		if c := s.Counts(); c.Writes > 0 {
			t.Errorf("the source was written: %v", c)
		}
	}()
	s.ResetCounts()
	return rehearse.ReadCopy(t.Context(), src, legacy.Options{})
}

func queue(t *testing.T, records int, change func(*znode.Tree)) *rehearse.Copy {
	t.Helper()
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: records, Seed: 1})
	must(t, err)
	if change != nil {
		change(tree)
	}
	c, err := readCopy(t, tree, migration.DefaultQueues())
	must(t, err)
	return c
}

func choices() migration.Choices {
	c := migration.DefaultChoices()
	c.InventoryRecords, c.Unserviceable, c.Consumed = "migrate", "migrate", "held"
	return c
}

func options(d newqueue.Dialect) rehearse.Options {
	return rehearse.Options{Plan: migration.PlanOptions{Dialect: d, Choices: choices()}, Mishaps: 0.01}
}

// A sound queue is worked as predicted, in both dialects, whoever fails or is killed.
func TestNothingToFind(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			r, err := rehearse.Run(t.Context(), queue(t, 300, nil), options(d))
			must(t, err)
			for _, x := range r.Differences {
				t.Errorf("%+v", x)
			}
			if !r.OK() {
				t.Fatal(r.Problems)
			}
			w := r.Workers
			if len(r.Problems) > 0 || w.Done < 150 || w.Submitted < 12 || w.Emails < 5 || w.Checked != 4 || w.Trouble.Failed == 0 || w.Trouble.Killed == 0 || w.Trouble.Lost == 0 {
				t.Errorf("%+v, %v", w, r.Problems)
			}
			if b := r.Back; b.Before < w.Done*3/10 || b.Before > w.Done/2 || b.ByLegacy < w.Done/3 || b.Before+b.ByLegacy > 300 || b.Kept < b.Before/2 {
				t.Errorf("the second copy: %+v, %+v", b, w)
			}
			if n := r.Cutover; n.Emails < w.Emails || len(n.Steps) != 4 || n.Freeze <= 0 {
				t.Errorf("the night: %+v", n)
			}
		})
	}
}

func consume(t *testing.T, tree *znode.Tree) (path string) {
	for _, name := range tree.Children("/ingest") {
		n := *tree.Get("/ingest/" + name)
		if legacy.Status(n.Data[0]) == legacy.Pending {
			n.Data = slices.Clone(n.Data)
			n.Data[0] = byte(legacy.Consumed)
			must(t, tree.Put(n))
			return n.Path
		}
	}
	t.Fatal("no record is pending")
	return ""
}

func first(s daemons.Session, root string) (jid, entry string, err error) {
	names, _, err := s.Children(root + "/jobs/states/pending")
	if err != nil || len(names) == 0 {
		return "", "", errors.Join(err, errors.New("no job is pending"))
	}
	slices.Sort(names)
	return names[0][3:], root + "/jobs/states/pending/" + names[0], nil
}

// A record that says not whose work it is, is known by its path in the legacy queue and by its job in the new one. That a legacy
// worker fails it after the rollback is its own affair, too.
func TestFailsOnTheWayBackWithoutAKey(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			changed := 0
			opt := options(d)
			opt.Mishaps = 0
			r, err := rehearse.Run(t.Context(), queue(t, 60, func(tree *znode.Tree) {
				for _, name := range tree.Children("/ingest") {
					n := *tree.Get("/ingest/" + name)
					record, err := legacy.Decode(name, n.Data, legacy.Options{})
					must(t, err)
					if record.Header.Status != legacy.Pending {
						continue
					}
					delete(record.Payload, "jobID")
					record.Payload["type"] = "no type that a worker knows"
					n.Data, err = legacyqueue.Encode(record.Header, legacy.JSON, record.Payload)
					must(t, err)
					must(t, tree.Put(n))
					changed++
				}
			}), opt)
			must(t, err)
			for _, x := range r.Differences {
				t.Errorf("%+v", x)
			}
			if changed < 10 || !r.OK() || d == newqueue.Design && r.Back.Failed < 5 { // in mrt-zk the plan says that no worker can do them
				t.Errorf("%d changed, %v, %+v", changed, r.Problems, r.Back)
			}
		})
	}
}

// Each of these is put in, and found.
func TestFinds(t *testing.T) {
	var put string // what was put in
	for _, c := range []struct {
		name  string
		only  newqueue.Dialect // "" is both
		copy  func(*testing.T) *rehearse.Copy
		hooks rehearse.Hooks
		opt   func(*rehearse.Options)
		want  rehearse.Kind
		says  string
	}{
		{name: "a choice that runs a record twice",
			copy: func(t *testing.T) *rehearse.Copy {
				return queue(t, 60, func(tree *znode.Tree) { put = consume(t, tree) })
			},
			opt:  func(o *rehearse.Options) { o.Plan.Choices.Consumed = "pending" },
			want: rehearse.Twice, says: "decide about it as held"},
		{name: "a lost batch entry", only: newqueue.MrtZK,
			hooks: rehearse.Hooks{Released: func(_ *migration.Plan, s daemons.Session, root string) error {
				jid, _, err := first(s, root)
				if err != nil {
					return err
				}
				bid, _, err := s.Get(root + "/jobs/" + jid + "/bid")
				if err != nil {
					return err
				}
				put = jid
				return s.Delete(root+"/batches/"+string(bid)+"/states/batch-processing/"+jid, -1)
			}},
			want: rehearse.Layout, says: "batch-processing"},
		{name: "a broken order",
			hooks: rehearse.Hooks{Released: func(_ *migration.Plan, s daemons.Session, root string) error {
				jid, entry, err := first(s, root)
				if err != nil {
					return err
				}
				text, _, err := s.Get(root + "/jobs/" + jid + "/configuration")
				if err != nil {
					return err
				}
				var c struct{ JobID string }
				if err := json.Unmarshal(text, &c); err != nil {
					return err
				}
				put = strings.TrimPrefix(c.JobID, "jid-") // with which the record's name ends, too
				if _, err := s.Create(root+"/jobs/states/pending/99-"+jid, []byte{}, 0, zk.WorldACL(zk.PermAll)); err != nil {
					return err
				}
				if _, err := s.Set(root+"/jobs/"+jid+"/priority", []byte("99"), -1); err != nil {
					return err
				}
				return s.Delete(entry, -1)
			}},
			want: rehearse.Order, says: "a legacy worker would have begun it"},
		{name: "an unserviceable record that the plan missed", only: newqueue.MrtZK,
			copy: func(t *testing.T) *rehearse.Copy { return queue(t, 120, nil) },
			hooks: rehearse.Hooks{Held: func(p *migration.Plan, _ daemons.Session, _ string) error {
				for i, f := range p.Findings {
					if f.Effect == migration.EffectUnfit && f.Kind == "inventory" {
						put, p.Findings[i].Items = f.Items[0].Path, f.Items[1:]
					}
				}
				return nil
			}},
			want: rehearse.State, says: "is failed in the end, expected completed"},
		{name: "a late record that was submitted twice",
			hooks: rehearse.Hooks{Held: func(p *migration.Plan, s daemons.Session, root string) error {
				for _, r := range p.Records { // the first late record is a copy of one of them
					path := strings.TrimSuffix(root, "/new") + "/legacy" + r.Path
					data, _, err := s.Get(path)
					if err != nil {
						return err
					}
					is, err := legacy.Decode(znode.Name(path), data, legacy.Options{})
					if id, has := is.Payload.Text("jobID"); err == nil && has && is.Header.Status == legacy.Pending {
						is.Payload["jobID"] = id + "-again-1"
						if data, err = legacyqueue.Encode(is.Header, legacy.JSON, is.Payload); err == nil {
							_, err = s.Create(path[:len(path)-10], data, zk.FlagSequence, zk.WorldACL(zk.PermAll))
						}
					}
					if err != nil {
						return err
					}
				}
				put = "follow does not move it"
				return nil
			}},
			want: rehearse.Never, says: "it was submitted again"},
		{name: "a hold that somebody has lifted",
			hooks: rehearse.Hooks{Held: func(_ *migration.Plan, s daemons.Session, root string) error {
				put = "worked on it"
				return s.Delete(root+newqueue.QueueHoldPath(newqueue.HoldIngest), -1)
			}},
			want: rehearse.WhileHeld, says: "although its queue was held"},
	} {
		for _, d := range newqueue.Dialects {
			if c.only != "" && c.only != d {
				continue
			}
			t.Run(c.name+"/"+string(d), func(t *testing.T) {
				put = ""
				opt := options(d)
				opt.Hooks, opt.Mishaps = c.hooks, 0
				if c.opt != nil {
					c.opt(&opt)
				}
				copied := c.copy
				if copied == nil {
					copied = func(t *testing.T) *rehearse.Copy { return queue(t, 60, nil) }
				}
				r, err := rehearse.Run(t.Context(), copied(t), opt)
				must(t, err)
				if put == "" {
					t.Fatal("nothing was put in")
				}
				found := slices.ContainsFunc(r.Differences, func(x rehearse.Difference) bool {
					return x.Kind == c.want && strings.Contains(fmt.Sprint(x), put) && strings.Contains(fmt.Sprint(x), c.says)
				})
				if !found || r.OK() {
					t.Errorf("%s is not among %d differences, of which the first: %v; problems %v", put, len(r.Differences), r.Differences[:min(5, len(r.Differences))], r.Problems)
				}
			})
		}
	}
}

// In the queues of TestFinds nothing is found if nothing is put in.
func TestFindsNoMore(t *testing.T) {
	for _, records := range []int{60, 120} {
		for _, d := range newqueue.Dialects {
			opt := options(d)
			opt.Mishaps = 0
			r, err := rehearse.Run(t.Context(), queue(t, records, func(tree *znode.Tree) {
				if records == 60 {
					consume(t, tree)
				}
			}), opt)
			must(t, err)
			if !r.OK() {
				t.Errorf("%d records, %s: %v, %v", records, d, r.Problems, r.Differences)
			}
		}
	}
}

// A consumed record is left to the legacy queue, unless somebody decides otherwise. The rehearsal
// expects no work for it, on the way back neither.
func TestConsumedIsLeft(t *testing.T) {
	for _, d := range newqueue.Dialects {
		copied := queue(t, 60, func(tree *znode.Tree) { consume(t, tree) })
		opt := options(d)
		opt.Plan.Choices.Consumed, opt.Mishaps = migration.DefaultChoices().Consumed, 0
		r, err := rehearse.Run(t.Context(), copied, opt)
		must(t, err)
		if !r.OK() || r.Records != r.Jobs+r.Skipped || r.Skipped == 0 || r.Back.Kept == 0 {
			t.Errorf("%s: %+v", d, r)
		}
	}
}

// A plan with problems is not rehearsed, nor one that creates no job, and an empty source is refused.
func TestNothingToRehearse(t *testing.T) {
	opt := options(newqueue.MrtZK)
	opt.Plan.Choices = migration.DefaultChoices()
	r, err := rehearse.Run(t.Context(), queue(t, 100, nil), opt)
	must(t, err)
	if len(r.Problems) == 0 || r.OK() || len(r.Steps) != 1 {
		t.Errorf("%+v", r)
	}
	// Nothing but consumed records, which are left to their workers.
	tree := znode.NewTree()
	data, err := legacyqueue.Encode(legacy.NewHeader(legacy.Consumed, time.Unix(1.7e9, 0), legacy.Milliseconds), legacy.JSON, legacy.Payload{"batchID": "bid-1", "jobID": "jid-1"})
	must(t, err)
	must(t, tree.Put(znode.Node{Path: "/ingest/mrtQ-05000000000001", Data: data}))
	tree.SettleStats(0)
	copied, err := readCopy(t, tree, migration.DefaultQueues())
	must(t, err)
	if r, err = rehearse.Run(t.Context(), copied, opt); err != nil || r.Verdict != "nothing" || r.OK() || r.Skipped != 1 || len(r.Steps) != 1 || len(r.Differences) > 0 {
		t.Errorf("nothing to migrate: %+v, %v", r, err)
	}
	tree = znode.NewTree()
	must(t, tree.Put(znode.Node{Path: "/ingest", Data: []byte{}}))
	tree.SettleStats(0)
	if _, err := readCopy(t, tree, migration.DefaultQueues()); !errors.Is(err, rehearse.ErrNothing) {
		t.Errorf("an empty source: %v", err)
	}
}

// The legacy queues may be anywhere, and there may be several of a kind.
func TestQueuesElsewhere(t *testing.T) {
	made, err := legacyqueue.Make(legacyqueue.Options{Records: 60, Seed: 2})
	must(t, err)
	tree, queues := znode.NewTree(), migration.DefaultQueues()
	queues.Nodes[migration.Ingest] = []string{"/deep/down/ingest", "/ingest"}
	for _, path := range []string{"/deep", "/deep/down", "/deep/down/ingest"} {
		must(t, tree.Put(znode.Node{Path: path, Data: []byte{}}))
	}
	moved := 0
	for n := range made.All("/") {
		if moved++; znode.Parent(n.Path) == "/ingest" && moved%2 == 0 {
			n.Path = "/deep/down" + n.Path
		}
		must(t, tree.Put(*n))
	}
	tree.SettleStats(0)
	c, err := readCopy(t, tree, queues)
	must(t, err)
	r, err := rehearse.Run(t.Context(), c, options(newqueue.MrtZK))
	must(t, err)
	if !r.OK() || r.Back.ByLegacy < 15 {
		t.Errorf("%v, %v, %+v", r.Problems, r.Differences, r.Back)
	}
}

// At an address, a rehearsal wants an empty chroot, and leaves it as it was.
func TestAtAnAddress(t *testing.T) {
	s := harness.ForTest(t, harness.Embedded, harness.Options{})
	w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{s.Address()}}})
	must(t, err)
	defer w.Close()
	must(t, w.Multi(t.Context(), []znode.Op{znode.Create("/staging", nil), znode.Create("/full", nil), znode.Create("/full/x", nil)}))
	opt := options(newqueue.Design)
	opt.On = s.Address() + "/staging"
	r, err := rehearse.Run(t.Context(), queue(t, 30, nil), opt)
	must(t, err)
	if !r.OK() {
		t.Errorf("%+v", r)
	}
	if names, err := w.Children(t.Context(), "/staging"); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
	opt.On = s.Address() + "/full"
	if _, err := rehearse.Run(t.Context(), queue(t, 30, nil), opt); err == nil || !strings.HasPrefix(err.Error(), opt.On+` is not empty: it has ["x"]. A rehearsal needs an empty chroot`) {
		t.Errorf("a chroot that is not empty: %v", err)
	}
}

// interrupting is a meter that presses Ctrl-C at one of its calls.
type interrupting struct {
	left int
	stop context.CancelCauseFunc
}

var errCtrlC = errors.New("Ctrl-C")

func (m *interrupting) call() {
	if m.left--; m.left == 0 {
		m.stop(errCtrlC)
	}
}

func (m *interrupting) Phases(ctx context.Context, _ string) (context.Context, func()) {
	m.call()
	return ctx, m.call
}

func (m *interrupting) Progress(string, string) (func(int, int), func()) {
	m.call()
	return func(int, int) { m.call() }, m.call
}

// Ctrl-C at any moment leaves nothing at an address.
func TestInterrupted(t *testing.T) {
	s := harness.ForTest(t, harness.Embedded, harness.Options{})
	w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{s.Address()}}})
	must(t, err)
	defer w.Close()
	must(t, w.Multi(t.Context(), []znode.Op{znode.Create("/staging", nil)}))
	c := queue(t, 20, nil)
	for at, interrupted := 1, true; interrupted; at += 23 {
		ctx, stop := context.WithCancelCause(t.Context())
		opt := options(newqueue.Design)
		opt.On, opt.Meter = s.Address()+"/staging", &interrupting{at, stop}
		_, err := rehearse.Run(ctx, c, opt)
		interrupted = ctx.Err() != nil
		stop(nil)
		if interrupted != (err != nil) {
			t.Fatalf("interrupted at call %d: %t, and the error is %v", at, interrupted, err)
		}
		if names, err := w.Children(t.Context(), "/staging"); err != nil || len(names) > 0 {
			t.Fatalf("interrupted at call %d, it left %v, %v", at, names, err)
		}
	}
}
