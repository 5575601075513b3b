package services_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/layout/merritt"
	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// Every requirement has its rows, and every row has all fields that others use.
func TestDemandsAreComplete(t *testing.T) {
	ids := map[string]bool{}
	for _, d := range services.Demands {
		ids[d.ID] = true
		if (d.Key == "") != (d.Says != "") || (d.Key == "") != (d.Type.Words == "") {
			t.Errorf("%s: want a key with a type, or a rule in words", d)
		}
		if len(d.By) == 0 {
			t.Errorf("%s: nobody reads it", d)
		}
		for _, by := range d.By {
			saysSomething(t, d.String(), services.Stop{Daemon: by, Effect: d.Then})
		}
		if d.Optional && d.Default != "" {
			t.Errorf("%s: what may be absent needs no default", d)
		}
	}
	for _, r := range merritt.Map(newqueue.MrtZK).Rules() {
		id, stops, _ := strings.Cut(r.Then, ": ")
		ids[id] = true
		for stop := range strings.SplitSeq(stops, "; ") {
			if effect, daemon, _ := strings.Cut(stop, " "); r.Then != "" {
				saysSomething(t, r.ID, services.Stop{Daemon: services.Daemon(daemon), Effect: services.Effect(effect)})
			}
		}
	}
	for n := 1; n <= 32; n++ {
		if id := fmt.Sprintf("R%02d", n); !ids[id] {
			t.Errorf("no row has %s", id)
		}
	}
}

func saysSomething(t *testing.T, what string, s services.Stop) {
	t.Helper()
	if !slices.Contains(services.Daemons, s.Daemon) || s.String() == "" || strings.Contains(s.String(), "%!") {
		t.Errorf("%s: %q %q says %q", what, s.Daemon, s.Effect, s)
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
		all := services.CheckContent(services.Item{Path: "/jobs/jid0000000000", Objects: []services.NodeObject{
			{Node: "status", Object: newqueue.Object{"status": state}}, {Node: "configuration", Object: newqueue.Object{"type": "batch-manifest"}}}})
		i := slices.IndexFunc(all, func(v services.Violation) bool { return v.Demand.ID == "R22" })
		if i < 0 || all[i].Stop != want {
			t.Errorf("%s: %v", state, all)
		}
	}
}
