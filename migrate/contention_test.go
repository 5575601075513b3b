package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// Others submit jobs, batches and requests between the migration's transactions. Each takes
// an id, and the migration's ids move up. In the end every batch is whole, and its report
// names its own jobs.
func TestIDsMoveUpUnderOthers(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for _, budget := range []int{1, 4 << 10, defaultBudget} {
			t.Run(fmt.Sprintf("%s, transactions of %d bytes", d, budget), func(t *testing.T) {
				records := map[string][]byte{}
				for i := range 60 {
					status := []legacy.Status{legacy.Pending, legacy.Failed, legacy.Failed, legacy.Completed}[i/15]
					records[fmt.Sprintf("/ingest/mrtQ-0500%010d", i)] = record(t, status, legacy.Payload{"batchID": fmt.Sprintf("bid-%d", i/15), "jobID": fmt.Sprint(i)})
					if i%10 == 0 {
						records[fmt.Sprintf("/accessSmall.1/mrtQ-00%010d", i)] = record(t, legacy.Pending, legacy.Payload{"token": fmt.Sprint(i)})
					}
				}
				src := source(t, queue(t, records))
				target := serve(t, znode.NewTree())
				for _, path := range []string{"/batches", "/jobs", "/access", "/access/small"} {
					do(t, target, znode.Create(path, none))
				}
				var others []string
				target.before(t, func(n int) {
					if n > 150 {
						return // enough ids were taken: let the migration end
					}
					prefix := []string{"/jobs/jid", "/batches/bid", "/access/small/qid"}[n%3]
					path, err := target.client.Create(prefix, []byte("others'"), zk.FlagSequence, zk.WorldACL(zk.PermAll))
					if err != nil {
						t.Error(err)
					}
					others = append(others, path)
				})
				opt := options(permissive())
				opt.Dialect = d
				m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing, Budget: budget, Say: func(text string) { t.Logf("says: %s", text) }}
				res, err := m.Migrate(t.Context(), static(src), opt, nil)
				if err != nil {
					t.Fatal(err)
				}
				if res.Done != (Done{Jobs: 60, Access: 6, Batches: 4}) {
					t.Errorf("done %+v", res.Done)
				}
				tree := treeOf(t, target)
				for _, path := range others {
					if n := tree.Get(path); n == nil || string(n.Data) != "others'" {
						t.Errorf("%s of others is not as they made it", path)
					}
				}
				if len(others) == 0 {
					t.Error("no other client took an id")
				}
				v := verdict(t, src, tree, VerifyOptions{Others: true})
				for _, diff := range v.Differences {
					if !slices.ContainsFunc(others, func(o string) bool { return znode.Within(diff.Path, o) }) { // others' znodes are incomplete on purpose
						t.Errorf("verify: %s", diff)
					}
				}
				// The migration read both sides only once.
				u, err := m.Rollback(t.Context(), res.Run, false)
				if err != nil || len(u.Kept) > 0 || u.Done.Jobs != 60 {
					t.Errorf("rollback: %v, %+v", err, u.Kept)
				}
			})
		}
	}
}

// If others take an id, the source and the target are not read again.
func TestNoSecondLookForATakenID(t *testing.T) {
	records := map[string][]byte{}
	for i := range 50 {
		records[fmt.Sprintf("/ingest/mrtQ-0500%010d", i)] = record(t, legacy.Pending, legacy.Payload{"batchID": "bid-0", "jobID": fmt.Sprint(i)})
	}
	src := source(t, queue(t, records))
	target := serve(t, znode.NewTree())
	target.before(t, func(n int) {
		if n > 1 && n < 40 {
			if _, err := target.client.Create("/jobs/jid", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll)); err != nil {
				t.Error(err)
			}
		}
	})
	reads := 0
	m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing, Budget: 1}
	res, err := m.Migrate(t.Context(), func(ctx context.Context) (*LegacyQueue, func(), error) {
		reads++
		return static(src)(ctx)
	}, options(permissive()), nil)
	if err != nil || res.Done.Jobs != 50 || reads != 1 {
		t.Errorf("%v, done %+v, the source was read %d times", err, res.Done, reads)
	}
}

// A migration ends although others submit fifty batches and jobs a second. All of these
// submissions succeed too.
func TestFiftySubmissionsASecond(t *testing.T) {
	records := map[string][]byte{}
	for i := range 3000 {
		records[fmt.Sprintf("/ingest/mrtQ-0500%010d", i)] = record(t, legacy.Pending, legacy.Payload{"batchID": "bid-0", "jobID": fmt.Sprint(i)})
	}
	src := source(t, queue(t, records))
	target := serve(t, znode.NewTree())
	do(t, target, znode.Create("/batches", none), znode.Create("/jobs", none))
	ctx, stop := context.WithCancel(t.Context())
	var submitting sync.WaitGroup
	submitted := 0
	submitting.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			for _, prefix := range []string{"/batches/bid", "/jobs/jid"} {
				if _, err := target.client.Create(prefix, []byte("others'"), zk.FlagSequence, zk.WorldACL(zk.PermAll)); err != nil {
					t.Errorf("a submission failed: %v", err)
				}
			}
			submitted++
		}
	})
	m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}
	res, err := m.Migrate(t.Context(), static(src), options(permissive()), nil)
	stop()
	submitting.Wait()
	if err != nil || res.Done.Jobs != 3000 {
		t.Errorf("%v, done %+v", err, res.Done)
	}
	t.Logf("%d submissions meanwhile", submitted)
}

// If others take every id, the migration ends with an error and does not wait forever.
func TestEveryIDIsTaken(t *testing.T) {
	src := source(t, queue(t, map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "bid-0", "jobID": "one"}),
	}))
	target := serve(t, znode.NewTree())
	do(t, target, znode.Create("/batches", none))
	target.before(t, func(n int) {
		if n > 1 {
			if _, err := target.client.Create("/batches/bid", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll)); err != nil {
				t.Error(err)
			}
		}
	})
	m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}
	res, err := m.Migrate(t.Context(), static(src), options(permissive()), nil)
	if !errors.Is(err, ErrContended) || !strings.Contains(err.Error(), "another client's new job or batch came first") || res.Done.Jobs != 0 {
		t.Errorf("%v, done %+v", err, res.Done)
	}
}
