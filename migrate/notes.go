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

// Notes is what a plan tells beside what it does.
type Notes struct {
	Warnings []Warning    `json:"warnings"`
	Risks    []Risk       `json:"risks"`    // one for each choice about consumed records
	Locks    []HeldLock   `json:"locks"`    // outstanding legacy locks: never migrated
	Headroom []Headroom   `json:"headroom"` // of the sequences
	Lists    []ListSize   `json:"lists"`    // child lists too long for a client's default buffer
	ACLs     []ACLNote    `json:"acls"`     // of the legacy queues, where not open
	Missing  []string     `json:"missing"`  // legacy queue nodes that are not there
	Vanished []VanishedAt `json:"vanished"` // migrated before, and no longer in the source
	Gone     []GoneAt     `json:"gone"`     // migrated before, and no longer in the target
	// Services are what no deployed service could work, and what else an
	// operator should know of them; none in dialect design.
	Services []ServiceFinding `json:"services"`
	Readers  string           `json:"readers"` // which services can read the dialect
}

// Warning is something that an operator should know and that stops nothing.
type Warning struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Risk says which jobs could run twice, or never, under one choice about consumed
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

// Headroom is how far a parent's sequence is from its end.
type Headroom struct {
	Path  string `json:"path"`
	Next  int64  `json:"next"`  // the number that the next child gets
	Needs int64  `json:"needs"` // by this plan
	Left  int64  `json:"left"`  // after it
}

// ListSize is a child list that a client with the default buffer can't read.
type ListSize struct {
	Path     string `json:"path"`
	Children int    `json:"children"`
	Bytes    int    `json:"bytes"`
	Limit    int    `json:"limit"`
	Message  string `json:"message"`
}

// ACLNote is a legacy queue's access control list.
type ACLNote struct {
	Path string      `json:"path"`
	ACL  []znode.ACL `json:"acl"`
}

// GoneAt is a migrated record that is still in the source and whose job is gone.
type GoneAt struct {
	Record string `json:"record"`
	Job    string `json:"job,omitempty"` // what it became; none if declared done
	Run    string `json:"run"`
	What   string `json:"what"`
}

// VanishedAt is a migrated job whose record is gone.
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

// arkOf is the object's identifier in a storage manifest's URL, whose last
// path element is the identifier, escaped; "" if there is none.
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

// noteRisks: what a choice about consumed records can do. A worker may be
// inside the job or have died in it, and the record doesn't say which.
func (p *Plan) noteRisks() {
	consumed := p.seen.consumed
	for _, choice := range PolicyChoices[0].Values {
		risk := Risk{Choice: choice, Twice: []string{}, Never: []string{}, Chosen: choice == p.Policies.Consumed}
		switch choice {
		case AsPending: // ... and the legacy worker finishes it as well
			risk.Twice = append(risk.Twice, consumed...)
		case AsFailed: // ... the worker is dead, and nobody submits it anew
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
			h.Record = p.seen.holders[h.Data]
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
		pl := p.ex.jobs.placed(p.ex.jobs.rows[i])
		p.Vanished = append(p.Vanished, VanishedAt{path, pl.root})
		if dirty[pl.bid] {
			p.problem(Problem{Kind: BatchChanged, Path: path, Message: fmt.Sprintf("it is gone from the source since it became %s, and its batch %s is to change", pl.id, pl.bid),
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
