package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// expected is what verify should say. A subject is a record, a job with its entries, a
// batch, the layout, or the migration's own records. Verify must name some subjects, may
// name some, and must not name any other.
type expected struct {
	must map[string]DifferenceKind // the kind of difference; "" if any kind will do
	may  map[string]bool
	late map[string]bool // jobs of interrupted runs: a record that was added meanwhile may come too late in the order
	any  bool            // it is only known that verify must not say OK
}

const (
	subjectLayout = "the layout"
	subjectOwn    = "the migration's own records"
)

// expect returns what verify should say of the target if it allows others' znodes.
func (o *oracle) expect(tree *znode.Tree, records []*oldRecord) expected {
	e := expected{must: map[string]DifferenceKind{}, may: map[string]bool{}, late: map[string]bool{}}
	policies := DefaultPolicies()
	runs := rawRuns(tree)
	unfinished := false
	if o.damaged {
		e.any = true
		return e
	}
	if len(runs) > 0 {
		last := runs[len(runs)-1]
		policies, unfinished = last.Policies, last.State != "done"
	}
	if unfinished {
		e.must[subjectOwn] = RunUnfinished
	}
	for _, r := range runs {
		if o.copied[r.Run] && e.must[subjectOwn] == "" {
			e.must[subjectOwn] = NodeTouched
		}
	}
	e.expectRecords(o, records, policies)
	o.expectJobs(&e, records)
	for bid := range o.batches {
		switch {
		case o.outdated[bid] || unfinished:
			e.may["/batches/"+bid] = true
		case tree.Get("/batches/"+bid) == nil:
		case o.batches[bid]:
			e.may["/batches/"+bid] = true
		}
	}
	if unfinished {
		e.may[subjectLayout] = true
	}
	if len(runs) == 0 {
		return e
	}
	released := false
	for _, h := range newqueue.QueueHolds {
		released = released || tree.Get(newqueue.QueueHoldPath(h)) == nil && !unfinished
		e.may[subjectLayout] = true // a hold may have been lifted and set again
	}
	for s, kind := range e.must {
		if released && (kind == JobGone || kind == "") { // workers may have done it: see TestWorkIsNoDamage
			delete(e.must, s)
			e.may[s] = true
		}
	}
	return e
}

func (e *expected) expectRecords(o *oracle, records []*oldRecord, policies Policies) {
	for _, r := range records {
		w := o.top(r.token)
		switch {
		case w != nil && w.state == jobExists:
			if w.data != r.bytes() {
				e.must[r.path] = RecordChanged
			}
		case w != nil && w.state == jobRemoved:
			e.must[r.path] = JobGone
		case w != nil && w.state == jobDeclaredDone:
		case r.bad && policies.Undecodable == Quarantine:
		case r.bad, r.status == legacy.Consumed && policies.Consumed == Block:
			e.must[r.path] = Undecided
		case r.status == legacy.Completed && policies.Completed == Skip, r.status == legacy.Deleted && policies.Deleted == Skip:
		default:
			e.must[r.path] = NotMigrated
		}
	}
}

func (o *oracle) expectJobs(e *expected, records []*oldRecord) {
	there := map[string]*oldRecord{}
	for _, r := range records {
		there[r.token] = r
	}
	for _, list := range o.works {
		for _, w := range list {
			if w.state != jobExists && w.bid != "" {
				e.may["/batches/"+w.bid] = true // without that job, the records don't show what the batch should say
			}
		}
	}
	for token, w := range o.all() {
		r, exists := there[token], w.state == jobExists
		e.late[w.root] = o.resumed[w.run]
		switch {
		case !exists:
		case r == nil:
			e.must[w.root] = NoRecord
		case w.data != r.bytes(), w.mayHideChange && !w.seen:
			e.may[w.root] = true
		case w.seen:
			e.must[w.root] = ""
		default:
			continue // its batch agrees with the record
		}
		if w.bid != "" {
			e.may["/batches/"+w.bid] = true // it should say something else, or have another folder
		}
	}
}

// subject is what a difference is about.
func subject(tree *znode.Tree, p string) string {
	parts := strings.Split(strings.TrimPrefix(p, "/"), "/")
	at := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	switch {
	case at(0) == "migration":
		return subjectOwn
	case at(0) == "jobs" && at(1) == "states" && at(3) != "":
		_, jid, _ := strings.Cut(at(3), "-")
		return "/jobs/" + jid
	case at(0) == "jobs" && at(1) != "" && at(1) != "states":
		return "/jobs/" + at(1)
	case at(0) == "access" && at(2) != "":
		return "/access/" + at(1) + "/" + at(2)
	case at(0) == "batches" && at(2) == "states" && at(4) != "":
		return "/jobs/" + at(4)
	case at(0) == "batches" && at(1) != "":
		return "/batches/" + at(1)
	case at(0) == "batch-uuids" && at(1) != "":
		if n := tree.Get(p); n != nil {
			return "/batches/" + string(n.Data)
		}
		return p
	case slices.Contains([]string{"locks", "jobs", "batches", "batch-uuids", "access"}, at(0)):
		return subjectLayout
	}
	return p // a record
}

// differs says how a verdict differs from the expected one, "" if it does not.
func (e expected) differs(tree *znode.Tree, v *Verdict) string {
	if e.any {
		if !slices.ContainsFunc(v.Differences, func(d Difference) bool { return d.Kind == Damaged }) {
			return fmt.Sprintf("the migration's own records are gone, and verify says %v", v.Differences)
		}
		return ""
	}
	named := map[string][]Difference{}
	for _, d := range v.Differences {
		s := subject(tree, d.Path)
		named[s] = append(named[s], d)
		if _, must := e.must[s]; !must && !e.may[s] && !(d.Kind == OutOfOrder && e.late[s]) {
			return fmt.Sprintf("verify names %s, and nothing is wrong with it: %s", s, d)
		}
	}
	for _, s := range slices.Sorted(maps.Keys(e.must)) {
		kind := e.must[s]
		if !slices.ContainsFunc(named[s], func(d Difference) bool { return kind == "" || d.Kind == kind }) {
			return fmt.Sprintf("verify should say of %s that it is %q, and says %v", s, kind, named[s])
		}
	}
	return ""
}
