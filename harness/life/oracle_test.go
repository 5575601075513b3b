package life_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/harness/daemons"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// The oracle knows the records, and who did their work how often. It shares no rule with the package: it finds the job
// of a record by the record's path, which every job names.

// record is a legacy record.
type record struct {
	path, key string // where it is, and whose work it is: see [daemons.World.Executions]
	bad       bool   // nobody can read it
	// allowed is how often its work may be done, as far as anybody can tell. over says that
	// nobody needs to do it any more.
	allowed  int
	over     bool
	migrated bool // it has had a job
	// free says that a worker died or was disturbed while working on it. What then becomes
	// of it is the workers' affair.
	free bool
	// waits says that its job was to begin as held or failed, and no administrator has released
	// or requeued it: released, which can happen before its migration ends. done is how often the
	// new queue's workers had done its work before.
	waits, released bool
	done            int
	// twice and never say why its work may be done twice, or never: somebody has done something that nobody can undo, or
	// decided so; "" if it must be done once.
	twice, never string
}

type oracle struct {
	*site
	say     func(format string, args ...any)
	records []*record
}

// failf ends the life. class says in general what is wrong, so that a shorter life with
// the same failure can be found.
func (o *oracle) failf(class, format string, args ...any) {
	o.say("%s: %s", strings.ToUpper(class), fmt.Sprintf(format, args...))
	panic(failure(class))
}

func (o *oracle) at(path string) *record {
	i := slices.IndexFunc(o.records, func(r *record) bool { return r.path == path })
	if i < 0 {
		o.failf("unknown record", "%s", path)
	}
	return o.records[i]
}

// of are the records whose work it is.
func (o *oracle) of(key string) []*record {
	return slices.DeleteFunc(slices.Clone(o.records), func(r *record) bool { return r.key != key })
}

func (o *oracle) times(r *record) int { return o.world.Executions()[r.key].Times() }

// timesNew is how often the new queue's workers have done a record's work.
func (o *oracle) timesNew(r *record) (n int) {
	for _, name := range o.world.Executions()[r.key].Workers {
		if slices.ContainsFunc(o.world.Workers(), func(a *daemons.Actor) bool { return a.Name == name }) {
			n++
		}
	}
	return n
}

// observe finds the records that were added to the legacy queue, by depositors or by legacy
// workers.
func (o *oracle) observe() {
	known := map[string]bool{}
	for _, r := range o.records {
		known[r.path] = true
	}
	tree := o.tree()
	for _, root := range migrate.DefaultQueues().Roots() {
		for _, name := range tree.Children(root) {
			path := znode.Join(root, name)
			if known[path] {
				continue
			}
			r := &record{path: path, key: path, allowed: 1}
			decoded, err := legacy.Decode(name, tree.Get(path).Data, legacy.Options{})
			if r.bad = err != nil; !r.bad {
				r.over = decoded.Header.Status == legacy.Completed || decoded.Header.Status == legacy.Deleted
				for _, id := range []string{"jobID", "manifestURL", "token"} {
					if text, _ := decoded.Payload.Text(id); text != "" {
						r.key = text
						break
					}
				}
			}
			if r.bad || r.over && o.times(r) == 0 {
				r.allowed = 0
			}
			o.records = append(o.records, r)
		}
	}
}

// jobs are the jobs and requests of the records that are there, by the records' paths.
func (o *oracle) jobs() map[string][]string {
	tree, all := o.tree(), map[string][]string{}
	for _, parent := range []string{newqueue.JobsPath, newqueue.AccessQueuePath(newqueue.AccessSmall), newqueue.AccessQueuePath(newqueue.AccessLarge)} {
		for _, name := range tree.Children(parent) {
			var provenance struct{ Path string }
			if job := znode.Join(parent, name); json.Unmarshal(tree.Get(job).Data, &provenance) == nil && provenance.Path != "" {
				all[provenance.Path] = append(all[provenance.Path], job)
			}
		}
	}
	return all
}

// recordOf is the record of a job or request; nil if it has none.
func (o *oracle) recordOf(job string) *record {
	for path, jobs := range o.jobs() {
		if slices.Contains(jobs, job) {
			return o.at(path)
		}
	}
	return nil
}

// check fails if a record's work was done too often.
func (o *oracle) check() {
	o.observe()
	executions, tree := o.world.Executions(), o.tree()
	for _, r := range o.records {
		if strings.HasPrefix(r.path, "/mrt.inventory") && o.timesNew(r) > 0 && tree.Get(r.path) != nil {
			r.twice = "the deployed inventory service ignores holds"
		}
	}
	for key, e := range executions {
		allowed, excused := 0, false
		for _, r := range o.of(key) {
			allowed += r.allowed
			excused = excused || r.free || r.twice != ""
		}
		if e.Times() > allowed && !excused && len(o.of(key)) > 0 {
			o.failf("done twice", "%s (%s) was done %d times, expected at most %d: %+v", key, o.of(key)[0].path, e.Times(), allowed, e)
		}
	}
	for _, r := range o.records {
		if r.waits && o.timesNew(r) > r.done && len(o.of(r.key)) == 1 {
			o.failf("it ran, and nobody had released it", "%s (%s): %+v", r.path, r.key, executions[r.key])
		}
	}
	jobs := o.jobs()
	for _, path := range slices.Sorted(maps.Keys(jobs)) {
		r := o.at(path)
		r.migrated = true
		if len(jobs[path]) > 1 && r.twice == "" {
			o.failf("two jobs of one record", "%s has %v", path, jobs[path])
		}
	}
}

// checkEnd fails if a record's work was never done. All that can run has run.
func (o *oracle) checkEnd() {
	o.check()
	for _, r := range o.records {
		if !r.over && !r.bad && !r.free && r.never == "" && o.times(r) == 0 {
			o.failf("never done", "%s (%s), whose jobs are %v", r.path, r.key, o.jobs()[r.path])
		}
	}
}

// planned notes what a plan does with records by choice: what it leaves out, or lets run although a legacy worker may
// have begun it.
func (o *oracle) planned(p *migrate.Plan, carriedOut bool) {
	o.observe()
	for _, e := range p.Records {
		r := o.at(e.Path)
		if e.Action == migrate.ActQuarantine {
			r.never = "quarantined"
		}
		if e.Action == migrate.ActCreate && carriedOut {
			r.migrated = true
			r.waits, r.done = !r.released && (e.State == "held" || e.State == "failed"), o.timesNew(r)
		}
	}
	for _, f := range p.Services {
		for _, item := range f.Items {
			if of := znode.Parent(item.Path); f.Blocking && f.Requirement != "inventory" && of != newqueue.BatchUUIDsPath {
				o.at(item.Path).never = "no service can do it"
			}
		}
	}
	for _, risk := range p.Risks {
		if risk.Chosen {
			for _, path := range risk.Twice {
				o.at(path).twice = "chosen"
			}
		}
	}
}

// forget notes that records without a job don't wait for an administrator.
func (o *oracle) forget() {
	jobs := o.jobs()
	for _, r := range o.records {
		if len(jobs[r.path]) == 0 {
			r.waits, r.released = false, false
		}
	}
}
