package rehearse

import (
	"context"
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

func readCopy(t *testing.T, tree *znode.Tree, queues migration.Queues) (*Copy, error) {
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
	return ReadCopy(t.Context(), src, legacy.Options{})
}

func queue(t *testing.T, records int, change func(*znode.Tree)) *Copy {
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

func options(d newqueue.Dialect) Options {
	return Options{Plan: migration.PlanOptions{Dialect: d, Choices: choices()}}
}

// A sound queue is worked as predicted, in both dialects, whoever fails.
func TestNothingToFind(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for _, fails := range []float64{0.01, 1} {
			t.Run(fmt.Sprint(d, " ", fails), func(t *testing.T) {
				opt := options(d)
				opt.Fails = fails
				r, err := Run(t.Context(), queue(t, 300, nil), opt)
				must(t, err)
				for _, x := range r.Differences {
					t.Errorf("%+v", x)
				}
				if !r.OK() {
					t.Fatal(r.Problems)
				}
				due := r.DoneBefore + r.DoneAfter // nobody fails on the second copy
				if fails == 1 && r.Done > 0 || fails < 1 && r.Done < 150 || r.Submitted < 12 || r.Cutover.Emails < 5 || len(r.Cutover.Steps) != 4 || r.Cutover.Freeze <= 0 {
					t.Errorf("%+v, %+v", r, r.Cutover)
				}
				if r.DoneBefore < due*3/10 || r.DoneBefore > due*6/10 || due < 120 {
					t.Errorf("the second copy: %+v", r)
				}
			})
		}
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

// pending returns the first pending job, and its entry.
func pending(ctx context.Context, p *attempt) (job, entry string, err error) {
	names, err := p.new.Children(ctx, "/jobs/states/pending")
	if err != nil || len(names) == 0 {
		return "", "", errors.Join(err, errors.New("no job is pending"))
	}
	name := slices.Min(names)
	return "/jobs/" + name[3:], "/jobs/states/pending/" + name, nil
}

// A record that says not whose work it is, is known by its path in the legacy queue and by its job in the new one. That a legacy
// worker fails it after the rollback is its own affair, too.
func TestFailsOnTheWayBackWithoutAKey(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			changed := 0
			opt := options(d)
			r, err := Run(t.Context(), queue(t, 60, func(tree *znode.Tree) {
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
			if changed < 10 || !r.OK() || d == newqueue.Design && r.Done-r.DoneBefore-r.DoneAfter < 5 { // in mrt-zk the plan says that no worker can do them
				t.Errorf("%d changed, %+v", changed, r)
			}
		})
	}
}

// Each of these is put in before a step, and found.
func TestFinds(t *testing.T) {
	ctx := t.Context()
	var put string // what was put in
	for _, c := range []struct {
		name    string
		only    newqueue.Dialect // "" is both
		records int
		change  func(*testing.T, *znode.Tree)
		opt     func(*Options)
		step    string
		putIn   func(*attempt) error
		want    Kind
		says    string
	}{
		{name: "a choice that runs a record twice", records: 60,
			change: func(t *testing.T, tree *znode.Tree) { put = consume(t, tree) },
			opt:    func(o *Options) { o.Plan.Choices.Consumed = "pending" },
			want:   Twice, says: "decide about it as held"},
		{name: "a lost batch entry", only: newqueue.MrtZK, records: 60, step: "work",
			putIn: func(p *attempt) error {
				job, _, err := pending(ctx, p)
				if err != nil {
					return err
				}
				bid, err := p.new.Get(ctx, job+"/bid")
				if err != nil {
					return err
				}
				put = znode.Name(job)
				return p.new.Multi(ctx, []znode.Op{znode.Delete("/batches/"+string(bid.Data)+"/states/batch-processing/"+put, -1)})
			},
			want: Layout, says: "batch-processing"},
		{name: "an unserviceable record that the plan missed", only: newqueue.MrtZK, records: 120, step: "work",
			putIn: func(p *attempt) error {
				for i, f := range p.plan.Findings {
					if f.Effect == migration.EffectUnfit && f.Kind == "inventory" {
						put, p.plan.Findings[i].Items = f.Items[0].Path, f.Items[1:]
					}
				}
				return nil
			},
			want: State, says: "is failed in the end, expected completed"},
		{name: "a late record that was submitted twice", records: 60, step: "release",
			putIn: func(p *attempt) error {
				site := p.stage.site(ctx, p.folder+oldFolder, daemons.NewMirror())
				session, err := site.Connect()
				if err != nil {
					return err
				}
				defer session.Close()
				for _, r := range p.plan.Records { // the first late record is a copy of one of them
					n, err := p.old.Get(ctx, r.Path)
					if err != nil {
						return err
					}
					is, err := legacy.Decode(znode.Name(r.Path), n.Data, legacy.Options{})
					if id, has := is.Payload.Text("jobID"); err == nil && has && is.Header.Status == legacy.Pending {
						is.Payload["jobID"] = id + "-again-1"
						if n.Data, err = legacyqueue.Encode(is.Header, legacy.JSON, is.Payload); err == nil {
							_, err = session.Create(site.Root+r.Path[:len(r.Path)-10], n.Data, zk.FlagSequence, zk.WorldACL(zk.PermAll))
						}
					}
					if err != nil {
						return err
					}
				}
				put = "follow does not move it"
				return nil
			},
			want: Never, says: "it was submitted again"},
	} {
		for _, d := range newqueue.Dialects {
			if c.only != "" && c.only != d {
				continue
			}
			t.Run(c.name+"/"+string(d), func(t *testing.T) {
				put = ""
				opt := options(d)
				if c.opt != nil {
					c.opt(&opt)
				}
				opt.before = func(step string, p *attempt) error {
					if step != c.step {
						return nil
					}
					return c.putIn(p)
				}
				r, err := Run(ctx, queue(t, c.records, func(tree *znode.Tree) {
					if c.change != nil {
						c.change(t, tree)
					}
				}), opt)
				must(t, err)
				if put == "" {
					t.Fatal("nothing was put in")
				}
				found := slices.ContainsFunc(r.Differences, func(x Difference) bool {
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
			r, err := Run(t.Context(), queue(t, records, func(tree *znode.Tree) {
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
		opt.Plan.Choices.Consumed = migration.DefaultChoices().Consumed
		r, err := Run(t.Context(), copied, opt)
		must(t, err)
		if !r.OK() || r.Plan.Count(migration.ActionSkip) == 0 || r.DoneBefore == 0 || r.DoneAfter == 0 {
			t.Errorf("%s: %+v", d, r)
		}
	}
}

// A plan with problems is not rehearsed, nor one that creates no job, and an empty source is refused.
func TestNothingToRehearse(t *testing.T) {
	opt := options(newqueue.MrtZK)
	opt.Plan.Choices = migration.DefaultChoices()
	r, err := Run(t.Context(), queue(t, 100, nil), opt)
	must(t, err)
	if len(r.Problems) == 0 || r.OK() || r.Cutover != nil {
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
	if r, err = Run(t.Context(), copied, opt); err != nil || r.Verdict != "nothing" || r.OK() || r.Plan.Count(migration.ActionSkip) != 1 || r.Cutover != nil || len(r.Differences) > 0 {
		t.Errorf("nothing to migrate: %+v, %v", r, err)
	}
	tree = znode.NewTree()
	must(t, tree.Put(znode.Node{Path: "/ingest", Data: []byte{}}))
	tree.SettleStats(0)
	if _, err := readCopy(t, tree, migration.DefaultQueues()); !errors.Is(err, ErrNothing) {
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
	r, err := Run(t.Context(), c, options(newqueue.MrtZK))
	must(t, err)
	if !r.OK() || r.DoneAfter < 15 {
		t.Errorf("%+v", r)
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
	r, err := Run(t.Context(), queue(t, 30, nil), opt)
	must(t, err)
	if !r.OK() {
		t.Errorf("%+v", r)
	}
	if names, err := w.Children(t.Context(), "/staging"); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
	opt.On = s.Address() + "/full"
	if _, err := Run(t.Context(), queue(t, 30, nil), opt); err == nil || !strings.HasPrefix(err.Error(), opt.On+` is not empty: it has ["x"]. A rehearsal needs an empty chroot`) {
		t.Errorf("a chroot that is not empty: %v", err)
	}
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
		left := at
		opt.On, opt.Progress = s.Address()+"/staging", func(migrate.Phase, int, int) {
			if left--; left == 0 {
				stop(errors.New("Ctrl-C"))
			}
		}
		_, err := Run(ctx, c, opt)
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
