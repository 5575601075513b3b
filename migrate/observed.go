package migrate

import (
	"slices"
	"strings"

	"mrtq/legacy"
	"mrtq/newqueue"
)

// observed is what a plan keeps of the records' content, beside the jobs.
type observed struct {
	warnings []Warning
	consumed []string          // consumed records without a job
	byJobID  map[string]string // consumed records, by their jobID
	profiles bool              // whether any job has a profile
	bad      []Record          // see [Plan.Quarantined]
}

// record looks at one more record.
func (o *observed) record(p *Plan, f fetched, migrated bool) {
	for _, n := range f.nodes[1:] {
		o.warnings = append(o.warnings, Warning{n.Path, "a znode below a record: it is not part of the record and is not migrated"})
	}
	r := f.Record
	if r.Err != nil {
		if r.Err.Kind != UnreadableRecord && p.Policies.Undecodable == Quarantine {
			o.bad = append(o.bad, r)
		}
		return
	}
	if r.Legacy.Key.Skipped() {
		o.warnings = append(o.warnings, Warning{r.Path, "its sequence number has wrapped: the legacy consumer could never read it, so its job still waits"})
	}
	if r.Queue == Inventory && text(r.Legacy.Payload, "manifestURL") == "" {
		o.warnings = append(o.warnings, Warning{r.Path, "an inventory record without manifestURL: no service can record it"})
	}
	if r.Legacy.Header.Status != legacy.Consumed {
		return
	}
	if !migrated {
		o.consumed = append(o.consumed, r.Path)
	}
	if id := text(r.Legacy.Payload, "jobID"); id != "" {
		if o.byJobID == nil {
			o.byJobID = map[string]string{}
		}
		o.byJobID[id] = max(o.byJobID[id], r.Path)
	}
}

// sort sorts by path.
func (o *observed) sort() {
	slices.SortStableFunc(o.warnings, func(a, b Warning) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(o.consumed)
	slices.SortFunc(o.bad, func(a, b Record) int { return strings.Compare(a.Path, b.Path) })
}

// Quarantined are the records that could not be decoded and whose bytes are to be kept.
// Records that could not be read are not among them, because they have no bytes to keep.
func (p *Plan) Quarantined() []Record { return p.seen.bad }

// objectOf is the object that a job will record, "" if its record doesn't say.
func objectOf(r Record, initial initialState) string {
	switch {
	case r.Queue == Inventory:
		return arkOf(text(r.Legacy.Payload, "manifestURL"))
	case r.Queue == Ingest && initial.job.Folder() == newqueue.FolderProcessing:
		return strings.Clone(text(r.Legacy.Payload, "objectID"))
	}
	return ""
}
