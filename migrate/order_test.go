package migrate

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// Two ingest nodes, as older sites had them, and one of every other kind.
var orderQueues = Queues{Nodes: map[QueueKind][]string{
	Ingest: {"/ingest", "/ingest.ing02.1"}, Inventory: {"/mrt.inventory.full"},
	AccessSmall: {"/accessSmall.1"}, AccessLarge: {"/accessLarge.1"},
}}

// consumers returns all consumers of a legacy queue node. An ingest node has two for each
// worker, one of them only for records with the high-priority flag.
func consumers(kind QueueKind) []legacyqueue.Consumer {
	if kind != Ingest {
		return []legacyqueue.Consumer{{}}
	}
	var all []legacyqueue.Consumer
	for w := range 10 {
		all = append(all, legacyqueue.Consumer{Worker: fmt.Sprint(w)}, legacyqueue.Consumer{Worker: fmt.Sprint(w), HighPriority: true})
	}
	return all
}

// legacyQueue draws records with few different priorities, flags, workers and statuses, so
// that many are equal, and with any sequence, including wrapped ones.
func legacyQueue(rt *rapid.T, t *testing.T) *znode.Tree {
	tree := znode.NewTree()
	digit := func(name string, most int) int { return rapid.IntRange(0, most).Draw(rt, name) }
	for _, kind := range QueueKinds {
		for _, node := range orderQueues.Nodes[kind] {
			put(t, tree, node, []byte{})
			for _, seq := range rapid.SliceOfDistinct(rapid.OneOf(rapid.Int32Range(0, 20), rapid.Int32()), rapid.ID[int32]).Draw(rt, node) {
				key := legacy.Key{Priority: digit("priority", 3), Sequence: seq}
				if kind == Ingest {
					key.Long, key.HighPriority, key.Worker = true, rapid.Bool().Draw(rt, "high"), fmt.Sprint(digit("worker", 2))
				}
				status := rapid.SampledFrom([]legacy.Status{legacy.Pending, legacy.Pending, legacy.Pending, legacy.Held, legacy.Failed, legacy.Completed}).Draw(rt, "status")
				payload := legacy.Payload{"batchID": fmt.Sprint("B", digit("batch", 3)), "jobID": key.String(), "manifestURL": "http://m", "token": "t"}
				put(t, tree, node+"/"+key.String(), record(t, status, payload))
			}
		}
	}
	tree.SetDefaultStats(1)
	return tree
}

// handedOut returns the legacy records in the order in which workers of the new queue
// acquire their jobs and requests: jobs in the order of their entries' names, requests in
// the order of their ids.
func handedOut(p *Plan, kind QueueKind) []string {
	record := map[string]string{} // by the name that sorts
	for e := range p.Records.All() {
		switch {
		case e.Queue != kind || e.ID == "":
		case isAccess(kind) && e.State == string(newqueue.AccessPending):
			record[e.ID] = e.Path
		case e.State == string(newqueue.JobPending), e.State == string(newqueue.JobRecording):
			key, _ := legacy.ParseKey(path.Base(e.Path))
			record[newqueue.JobEntryPath(newqueue.JobState(e.State), key.Priority, e.ID)] = e.Path
		}
	}
	var order []string
	for name := range record {
		order = append(order, name)
	}
	slices.Sort(order)
	for i, name := range order {
		order[i] = record[name]
	}
	return order
}

// The new queue hands out every legacy consumer's records in the order in which the consumer
// would have taken them, for every kind of queue.
func TestOrderOfEachConsumer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tree := legacyQueue(rt, t)
		src, err := ReadSource(tree, orderQueues, legacy.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		plan := makePlan(t, src, znode.NewTree(), options(permissive()))
		if plan.Blocked() {
			rt.Fatalf("%v", plan.Problems)
		}
		for _, kind := range QueueKinds {
			now := handedOut(plan, kind)
			for _, node := range orderQueues.Nodes[kind] {
				for _, c := range consumers(kind) {
					sameOrder(rt, fmt.Sprintf("%s %+v", node, c), takenBy(rt, c, tree.Clone(), node), now)
				}
			}
			neverTakenIsLast(rt, now)
		}
	})
}

// takenBy returns what a consumer takes if it is the only one, in its order.
func takenBy(t rapid.TB, c legacyqueue.Consumer, tree *znode.Tree, node string) []string {
	t.Helper()
	var order []string
	for {
		path, err := c.Consume(tree, node)
		if err != nil {
			t.Fatal(err)
		}
		if path == "" {
			return order
		}
		order = append(order, path)
	}
}

// sameOrder checks that the new queue has all of a consumer's records, in the consumer's
// order.
func sameOrder(t rapid.TB, who string, then, now []string) {
	t.Helper()
	mine := slices.DeleteFunc(slices.Clone(now), func(path string) bool { return !slices.Contains(then, path) })
	if !slices.Equal(mine, then) {
		t.Fatalf("%s took\n  %s\nand the new queue hands out\n  %s", who, strings.Join(then, "\n  "), strings.Join(mine, "\n  "))
	}
}

// neverTakenIsLast checks that records which no consumer would ever have taken come last in
// their priority.
func neverTakenIsLast(t rapid.TB, now []string) {
	t.Helper()
	skipped := map[int]string{}
	for _, p := range now {
		key, _ := legacy.ParseKey(path.Base(p))
		if key.Skipped() {
			skipped[key.Priority] = p
		} else if before, ok := skipped[key.Priority]; ok {
			t.Fatalf("%s comes before %s", before, p)
		}
	}
}

// The same order with a real queue: it is migrated and verified, and workers acquire the
// jobs one after the other.
func TestAcquiredInOrder(t *testing.T) {
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: 400, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	src := source(t, tree)
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, src, options(permissive()))
	migrated := treeOf(t, target)
	mustVerify(t, src, migrated)

	record := map[string]string{} // by job or request
	ex := existingIn(t, migrated)
	for p := range ex.jobs.all() {
		record[p.root] = p.prov.Path
	}
	conn, err := connect(target.zk)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	q := newqueue.Open(conn, newqueue.Design)
	var jobs, requests []string
	for j, err := range q.AcquireJobs(t.Context(), newqueue.JobPending) {
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, record[j.Path()])
	}
	for {
		a, err := q.AcquireAccess(t.Context(), newqueue.AccessSmall, newqueue.AccessPending)
		if err != nil {
			break
		}
		requests = append(requests, record[a.Path()])
	}
	if len(jobs) < 100 || len(requests) < 3 {
		t.Fatalf("%d jobs and %d requests are too few to tell", len(jobs), len(requests))
	}
	for _, c := range consumers(Ingest) {
		sameOrder(t, fmt.Sprintf("%+v", c), takenBy(t, c, tree.Clone(), "/ingest"), jobs)
	}
	sameOrder(t, "access", takenBy(t, legacyqueue.Consumer{}, tree.Clone(), "/accessSmall.1"), requests)
}

// If a job comes before another one that the old queue would have handed out first, verify
// names it, for each way in which that can happen.
func TestVerifyNamesWhatIsOutOfOrder(t *testing.T) {
	for name, c := range map[string]struct{ first, second, queue, next string }{
		"sequence":      {"mrtQ-05000000000001", "mrtQ-05000000000002", "/ingest/", "jid"},
		"high priority": {"mrtQ-05000000000002", "mrtQ-05100000000001", "/ingest/", "jid"},
		"worker":        {"mrtQ-05010000000002", "mrtQ-05020000000001", "/ingest/", "jid"},
		"wrapped":       {"mrtQ-05000000000002", "mrtQ-0500-2147483648", "/ingest/", "jid"},
		"access":        {"mrtQ-020000000002", "mrtQ-050000000001", "/accessSmall.1/", "qid"},
	} {
		t.Run(name, func(t *testing.T) {
			payload := legacy.Payload{"batchID": "B", "jobID": "j", "token": "t"}
			src := source(t, queue(t, map[string][]byte{
				c.queue + c.first: record(t, legacy.Pending, payload), c.queue + c.second: record(t, legacy.Pending, payload),
			}))
			target := serve(t, znode.NewTree())
			mustMigrate(t, target, src, options(permissive()))
			good := treeOf(t, target)
			mustVerify(t, src, good)
			v := verdict(t, src, swapped(t, good, c.queue+c.first, c.queue+c.second), VerifyOptions{})
			if !slices.ContainsFunc(v.Differences, func(d Difference) bool {
				return d.Kind == OutOfOrder && strings.Contains(d.Message, c.queue+c.first+" comes after "+c.queue+c.second)
			}) {
				t.Errorf("%v", v.Differences)
			}
		})
	}
}

// swapped returns a target in which two jobs claim each other's record.
func swapped(t *testing.T, tree *znode.Tree, a, b string) *znode.Tree {
	t.Helper()
	out := tree.Clone()
	for n := range tree.All("/") {
		p, ok := parseProvenance(n.Data)
		if !ok || p.Path != a && p.Path != b {
			continue
		}
		if p.Path == a {
			p.Path = b
		} else {
			p.Path = a
		}
		changed := *n
		changed.Data = p.encode()
		if err := out.Put(changed); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// If a later run adds a record to a batch, and the record comes before the batch's others
// in the old queue's order, the batch's submission stays as it was.
func TestLaterRecordOfHigherPriority(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "B", "jobID": "one", "submitter": "first", "update": true}),
	}
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, source(t, queue(t, records)), options(permissive()))
	records["/ingest/mrtQ-02000000000002"] = record(t, legacy.Failed, legacy.Payload{"batchID": "B", "jobID": "two", "submitter": "second", "update": false})
	records["/ingest/mrtQ-01000000000003"] = record(t, legacy.Failed, legacy.Payload{"batchID": "B", "jobID": "three"})
	src := source(t, queue(t, records))
	mustMigrate(t, target, src, options(permissive()))
	mustVerify(t, src, treeOf(t, target))
}
