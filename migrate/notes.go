package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Notes is what an operator should know of a plan, beside what it does.
type Notes struct {
	Warnings []Warning    `json:"warnings"`
	Risks    []Risk       `json:"risks"`    // one for each choice about consumed records
	Locks    []HeldLock   `json:"locks"`    // outstanding legacy locks; they are never migrated
	Headroom []Headroom   `json:"headroom"` // how many numbers the sequences have left
	Lists    []ListSize   `json:"lists"`    // child lists too long for a client's default buffer
	ACLs     []ACLNote    `json:"acls"`     // of the legacy queues that are not open to all
	Missing  []string     `json:"missing"`  // legacy queue nodes that are not there
	Vanished []VanishedAt `json:"vanished"` // records that were migrated and are no longer in the source
	Gone     []GoneAt     `json:"gone"`     // records that were migrated and whose jobs are no longer in the target
	// Services are the jobs that no deployed service could work on, and what else an
	// operator should know of the services. There are none in dialect design.
	Services []ServiceFinding `json:"services"`
	Readers  string           `json:"readers"` // which services can read the dialect
}

// Warning is something that an operator should know. It does not stop the migration.
type Warning struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Risk says which records could run twice, or never, under one choice about consumed
// records.
type Risk struct {
	Choice string   `json:"choice"`
	Twice  []string `json:"twice"` // paths of records
	Never  []string `json:"never"`
	Chosen bool     `json:"chosen"`
}

// HeldLock is an outstanding legacy object lock.
type HeldLock struct {
	Path string `json:"path"`
	Time string `json:"time"`
	Data string `json:"data"`
	// Record is the consumed record that the lock's data names, "" if none.
	Record string `json:"record,omitempty"`
}

// Headroom says how many numbers are left for sequential children of a parent.
type Headroom struct {
	Path  string `json:"path"`
	Next  int64  `json:"next"`  // the next child's number
	Needs int64  `json:"needs"` // how many this plan needs
	Left  int64  `json:"left"`  // how many are left after it
}

// ListSize is a list of children that is longer than some clients accept by default.
type ListSize struct {
	Path     string `json:"path"`
	Children int    `json:"children"`
	Bytes    int    `json:"bytes"`
	Limit    int    `json:"limit"`
	Message  string `json:"message"`
}

// ACLNote is the ACL of a legacy queue's node.
type ACLNote struct {
	Path string      `json:"path"`
	ACL  []znode.ACL `json:"acl"`
}

// GoneAt is a migrated record that is still in the source, but whose job is gone.
type GoneAt struct {
	Record string `json:"record"`
	Job    string `json:"job,omitempty"` // the job that it became; none if it was declared done
	Run    string `json:"run"`
	What   string `json:"what"`
}

// VanishedAt is a migrated job whose record is no longer in the source.
type VanishedAt struct {
	Record string `json:"record"`
	Job    string `json:"job"`
}

func (p *Plan) warn(path, message string) { p.Warnings = append(p.Warnings, Warning{path, message}) }

func (p *Plan) addNotes(ctx context.Context) error {
	p.Missing = p.queue.Missing
	p.Readers = readers[p.Dialect]
	p.seen.sort()
	p.Warnings = append(p.Warnings, p.seen.warnings...)
	p.noteBatches()
	if err := p.noteSameObject(ctx); err != nil {
		return err
	}
	p.noteRisks()
	p.noteLocks()
	p.noteLists()
	p.noteVanished()
	slices.SortFunc(p.Gone, func(a, b GoneAt) int { return strings.Compare(a.Record, b.Record) })
	for _, root := range p.queue.Queues.Roots() {
		if n := p.queue.roots[root]; n != nil && !znode.IsOpenACL(n.ACL) {
			p.ACLs = append(p.ACLs, ACLNote{root, n.ACL})
		}
	}
	return nil
}

func (p *Plan) noteBatches() {
	for _, b := range p.sortedBatches() {
		if b.dirty {
			for _, w := range b.submissionWarnings(p.Dialect) {
				p.warn(newqueue.BatchPath(b.bid), w)
			}
		}
	}
}

// arkOf is the object's identifier in a storage manifest's URL: the last element of its
// path, unescaped. It is "" if there is none.
func arkOf(manifest string) string {
	u, err := url.Parse(manifest)
	if err != nil {
		return ""
	}
	path := u.EscapedPath()
	ark, err := url.PathUnescape(path[strings.LastIndexByte(path, '/')+1:])
	if err != nil || !strings.HasPrefix(ark, "ark:") {
		return ""
	}
	return ark
}

// noteRisks says what each choice about consumed records risks. A worker may be working
// on the record, or may have died; the record doesn't say which.
func (p *Plan) noteRisks() {
	consumed := p.seen.consumed
	for _, choice := range PolicyChoices[0].Values {
		risk := Risk{Choice: choice, Twice: []string{}, Never: []string{}, Chosen: choice == p.Policies.Consumed}
		switch choice {
		case AsPending: // the legacy worker may finish it as well
			risk.Twice = append(risk.Twice, consumed...)
		case AsFailed: // the worker may be dead, and nobody submits it again
			risk.Never = append(risk.Never, consumed...)
		}
		p.Risks = append(p.Risks, risk)
	}
}

func (p *Plan) noteLocks() {
	for _, l := range p.queue.Locks {
		h := HeldLock{Path: l.Path}
		if l.Err != nil {
			h.Data = l.Err.Error()
		} else {
			h.Data = string(l.Legacy.Data)
			h.Record = p.seen.byJobID[h.Data]
			if !l.Legacy.Time.IsZero() {
				h.Time = newqueue.Design.FormatTime(l.Legacy.Time)
			}
		}
		p.Locks = append(p.Locks, h)
	}
}

func (p *Plan) noteVanished() {
	dirty := map[string]bool{} // by BID
	for _, b := range p.batches {
		dirty[b.bid] = b.dirty && b.bid != ""
	}
	for i := range p.ex.jobs.rows {
		path := p.ex.names.text(p.ex.jobs.rows[i].record)
		if p.queue.has(path) {
			continue
		}
		pl := p.ex.jobs.job(p.ex.jobs.rows[i])
		p.Vanished = append(p.Vanished, VanishedAt{path, pl.root})
		if dirty[pl.bid] {
			p.problem(Problem{Kind: BatchChanged, Path: path, Message: fmt.Sprintf("it was removed from the source after it became %s, and the plan changes its batch %s", pl.id, pl.bid),
				Next: "restore the record, or roll back the run that migrated it"})
		}
	}
}

// MarshalJSON gives empty lists as [], so that readers need not test for null.
func (p *Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	q := plain(*p)
	orEmpty(&q.Batches)
	orEmpty(&q.Problems)
	orEmpty(&q.Structure)
	orEmpty(&q.Warnings)
	orEmpty(&q.Risks)
	orEmpty(&q.Locks)
	orEmpty(&q.Headroom)
	orEmpty(&q.Lists)
	orEmpty(&q.ACLs)
	orEmpty(&q.Missing)
	orEmpty(&q.Vanished)
	orEmpty(&q.Gone)
	orEmpty(&q.Settings.Queues.Locks)
	orEmpty(&q.Settings.ACL)
	orEmpty(&q.Settings.Again)
	orEmpty(&q.Settings.Done)
	orEmpty(&q.Services)
	return json.Marshal((*plain)(&q))
}

func orEmpty[T any](s *[]T) {
	if *s == nil {
		*s = []T{}
	}
}
