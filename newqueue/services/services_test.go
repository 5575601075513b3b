package services_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// Every requirement has its rows, and every row has all fields that others use.
func TestDemandsAreComplete(t *testing.T) {
	ids := map[string]bool{}
	for _, d := range services.Demands {
		ids[d.ID] = true
		if (d.Key == "") != (d.Says != "") || (d.Key == "") != (d.Type.Words == "") {
			t.Errorf("%s: want a key with a type, or a rule in words", d)
		}
		if len(d.Stops) == 0 {
			t.Errorf("%s: nobody reads it", d)
		}
		for _, s := range d.Stops {
			if !slices.Contains(services.Daemons, s.Daemon) || s.String() == "" || strings.Contains(s.String(), "%!") {
				t.Errorf("%s: %q %q says %q", d, s.Daemon, s.Effect, s)
			}
		}
		if d.Optional && d.Default != "" {
			t.Errorf("%s: what may be absent needs no default", d)
		}
	}
	for n := 1; n <= 32; n++ {
		if id := fmt.Sprintf("R%02d", n); !ids[id] {
			t.Errorf("no row has %s", id)
		}
	}
}

// A held job continues at Initialize when it is released, and a failed one
// where the admin tool requeues it.
func TestWorker(t *testing.T) {
	for _, c := range []struct {
		state, last newqueue.JobState
		want        services.Daemon
	}{
		{newqueue.JobPending, "", services.Initialize},
		{newqueue.JobHeld, "", services.Initialize},
		{newqueue.JobStoring, newqueue.JobProcessing, services.Store},
		{newqueue.JobFailed, "", services.Estimate},
		{newqueue.JobFailed, newqueue.JobPending, services.Estimate},
		{newqueue.JobFailed, newqueue.JobStoring, services.Inventory},
		{newqueue.JobFailed, newqueue.JobNotify, ""},
		{newqueue.JobCompleted, newqueue.JobNotify, ""},
		{newqueue.JobDeleted, "", ""},
		{"", "", ""},
	} {
		if got := services.Worker(c.state, c.last); got != c.want {
			t.Errorf("%s, last %s: %s, want %s", c.state, c.last, got, c.want)
		}
	}
}

// A fault does no harm any more if only a daemon reads it that is done with the
// job.
func TestWhatIsBehindIsHarmless(t *testing.T) {
	for state, want := range map[string]services.Stop{
		"Pending":   {services.Initialize, services.Fails},
		"Held":      {services.Initialize, services.Fails},
		"Failed":    {services.Estimate, services.Fails},
		"Storing":   {services.Initialize, services.Harmless},
		"Recording": {services.Initialize, services.Harmless},
	} {
		tree := znode.NewTree()
		for node, data := range map[string]string{"status": `{"status":"` + state + `","retry_count":0}`, "configuration": `{"type":"batch-manifest"}`} {
			if err := tree.Put(znode.Node{Path: "/jobs/jid0000000000/" + node, Data: []byte(data)}); err != nil {
				t.Fatal(err)
			}
		}
		all := services.Check(tree)
		i := slices.IndexFunc(all, func(v services.Violation) bool { return v.Demand.ID == "R22" })
		if i < 0 || all[i].Stop != want {
			t.Errorf("%s: %v", state, all)
		}
	}
}

// An empty tree lacks its root nodes.
func TestCheckOfAnEmptyTree(t *testing.T) {
	var lacks []string
	for _, v := range services.Check(znode.NewTree()) {
		if v.Demand.ID == "R01" {
			lacks = append(lacks, v.Path)
		}
	}
	want := newqueue.MrtZK.StartNodes()
	slices.Sort(want)
	if !slices.Equal(lacks, want) {
		t.Errorf("lacks %v", lacks)
	}
}

// The check ends on any tree, and describes each violation.
func TestCheckOfAnything(t *testing.T) {
	places := []string{
		"/batches/bid0000000001", "/batches/bid0000000001/status", "/batches/bid0000000001/submission", "/batches/bid0000000001/states", "/batches/bid0000000001/states/batch-processing/jid0000000001", "/batches/bid0000000001/states/batch-failed/jid0000000002",
		"/batch-uuids/x", "/jobs/jid0000000001/status", "/jobs/jid0000000001/configuration", "/jobs/jid0000000001/bid", "/jobs/jid0000000001/priority", "/jobs/jid0000000001/identifiers", "/jobs/jid0000000001/inventory", "/jobs/jid0000000001/store", "/jobs/jid0000000001/lock",
		"/jobs/states/pending/05-jid0000000001", "/jobs/states/odd/x", "/jobs/odd", "/access/small/qid0000000001/status", "/access/small/qid0000000001/token", "/locks/storage/ark",
	}
	contents := []string{"", "x", "{}", "null", "[]", "bid0000000001", "a/b", "5", "105", `{"status":"Pending","retry_count":0}`, `{"status":"Failed","retry_count":"1","last_successful_status":"Storing"}`,
		`{"status":"Completed"}`, `{"status":7}`, `{"batchID":"bid-1","update":"TRUE","profile":"p"}`, `{"batchID":7,"profile":null,"type":"manifest"}`, `{"primary_id":"","local_id":[1]}`, `{"token":"t","mode":"add/1/x"}`}
	rapid.Check(t, func(t *rapid.T) {
		tree := znode.NewTree()
		for _, path := range rapid.SliceOfDistinct(rapid.SampledFrom(places), rapid.ID[string]).Draw(t, "places") {
			if err := tree.Put(znode.Node{Path: path, Data: []byte(rapid.SampledFrom(contents).Draw(t, path))}); err != nil {
				t.Fatal(err)
			}
		}
		for _, v := range services.Check(tree) {
			if v.What == "" || v.Then() == "" || !strings.HasPrefix(v.Path, "/") || strings.Contains(v.String(), "%!") {
				t.Errorf("%+v", v)
			}
		}
	})
}
