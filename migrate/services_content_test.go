package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// treeOfPlan returns the tree that a plan creates in an empty target, without a server.
func treeOfPlan(t interface{ Fatal(...any) }, p *Plan) *znode.Tree {
	tree := znode.NewTree()
	add := func(path string, data []byte) {
		if err := tree.Put(znode.Node{Path: path, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range p.Structure {
		add(path, none)
	}
	m := p.unitMaker()
	for u := range m.units(context.Background()) {
		for _, op := range u.ops {
			if op.Kind == znode.OpCreate {
				add(op.Path, op.Data)
			}
		}
	}
	return tree
}

// itemLines returns all items of all findings, each with its message.
func itemLines(all []ServiceFinding) []string {
	var lines []string
	for _, f := range all {
		for _, i := range f.Items {
			lines = append(lines, fmt.Sprintln(f.Requirement, f.Then, f.Daemon, f.Blocking, f.Policy, i))
		}
	}
	slices.Sort(lines)
	return lines
}

// samePlanAndTree compares two ways to look: the plan looks at the objects of each item alone,
// and the linter at the whole tree that the plan makes. They must find the same.
func samePlanAndTree(t interface {
	tester
	Errorf(string, ...any)
}, tree *znode.Tree) {
	src, err := ReadSource(tree, DefaultQueues(), legacy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	opt := options(permissive())
	opt.Dialect = newqueue.MrtZK
	p := makePlan(t, src, znode.NewTree(), opt)
	if p.Blocked() {
		return // there is nothing to migrate
	}
	made := treeOfPlan(t, p)
	jobs, drained := map[string]*job{}, map[string]bool{}
	for i := range p.plannedCount() {
		j := plannedJobAt(t, p, i)
		jobs[j.root()] = j
		if j.rec.Queue == Inventory && isUnfinished(j.initial) {
			drained[newqueue.BatchPath(j.bid)] = true
		}
	}
	var found findings
	for _, v := range services.Check(made) {
		switch j := jobs[v.Item]; {
		case j != nil:
			found.violation(v, j.rec.Path, j.rec.Queue == Inventory && isUnfinished(j.initial))
		case !drained[v.Item]:
			found.violation(v, "", false)
		}
	}
	for _, n := range services.Notices(made) {
		j := jobs[n.Item]
		switch {
		case j != nil && (j.rec.Queue != Inventory || !isUnfinished(j.initial)):
			found.notice(n, j.rec.Path)
		case j == nil && !drained[n.Item]:
			found.notice(n, "")
		}
	}
	if got, want := itemLines(p.Services), itemLines(found.all()); !slices.Equal(got, want) {
		t.Errorf("the plan says\n%s\nthe tree that it makes has\n%s", strings.Join(got, ""), strings.Join(want, ""))
	}
}

func TestPlanChecksWhatItWrites(t *testing.T) {
	t.Run("corpus", func(t *testing.T) { samePlanAndTree(t, corpus(t)) })
	t.Run("generated", func(t *testing.T) {
		tree, err := legacyqueue.Make(legacyqueue.Options{Records: 300, Seed: 3, Consumed: true})
		if err != nil {
			t.Fatal(err)
		}
		samePlanAndTree(t, tree)
	})
	t.Run("odd", func(t *testing.T) { rapid.Check(t, oddQueue) })
}

// oddQueue draws a few records whose properties have values of any kind.
func oddQueue(t *rapid.T) {
	keys := []string{"batchID", "jobID", "profile", "type", "filename", "update", "submitter", "localID", "objectID", "digestType", "digestValue", "DCtitle", "submissionDate", "responseForm", "profile_name",
		"manifestURL", "token", "cloud-content-byte", "delivery-node", "status"}
	value := rapid.SampledFrom([]any{"", "x", "bid-1", "file", "manifest", "true", "MD5", "a/b", "7", "http://store/m/ark", nil, true, false, json.Number("5"), json.Number("1.5"), json.Number("1e3"), []any{"a", json.Number("1")}, map[string]any{"a": "b"}})
	tree := znode.NewTree()
	for i := range rapid.IntRange(1, 5).Draw(t, "records") {
		p := legacy.Payload{"batchID": "bid-1", "jobID": "jid-1", "profile": "demo", "type": "file", "filename": "a.txt", "update": false}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, 6, rapid.ID[string]).Draw(t, "keys") {
			if p[key] = value.Draw(t, key); p[key] == "" {
				delete(p, key)
			}
		}
		queue := rapid.SampledFrom([]string{"/ingest/mrtQ-9500", "/ingest/mrtQ-0500", "/mrt.inventory.full/mrtQ-05", "/accessSmall.1/mrtQ-05"}).Draw(t, "queue")
		status := rapid.SampledFrom([]legacy.Status{legacy.Pending, legacy.Consumed, legacy.Deleted, legacy.Failed, legacy.Completed, legacy.Held}).Draw(t, "status")
		data, err := legacy.Encode(legacy.NewHeader(status, testNow, legacy.Milliseconds), legacy.JSON, p)
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Put(znode.Node{Path: fmt.Sprintf("%s%010d", queue, i), Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	tree.SetDefaultStats(1)
	samePlanAndTree(t, tree)
}
