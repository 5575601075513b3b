package migrate

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/handover"
	"mrtq/migrate/internal/plan"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/internal/verify"
)

// ofAction is the outcome of a record in a plan that was not carried out.
var ofAction = map[plan.Action]Outcome{
	plan.Create: WillBeCreated, plan.Unchanged: verify.WasMigrated, plan.Changed: verify.AtLegacy, plan.Removed: verify.WasRemoved,
	plan.Skip: verify.WasSkipped, plan.Quarantine: verify.WasQuarantined, plan.Block: verify.IsBlocked,
}

// ofDecision is the outcome of a record that the choices leave out.
var ofDecision = map[string]Outcome{rules.Skip: verify.WasSkipped, rules.Quarantine: verify.WasQuarantined, rules.Block: verify.IsBlocked}

// RecordStatus is one legacy record, and what became of it.
type RecordStatus struct {
	Path    string    `json:"path"`
	Queue   QueueKind `json:"queue"`
	Status  string    `json:"status"` // legacy status; "" if it is not known
	Format  string    `json:"format"`
	Time    time.Time `json:"time,omitzero"`
	Outcome Outcome   `json:"outcome"`
	Reason  string    `json:"reason"`
	Job     string    `json:"job"` // the job or request that it became
	State   string    `json:"state"`
	Batch   string    `json:"batch"`
	Run     string    `json:"run"`
}

// Priority returns the priority in the record's name; -1 if it has none.
func (r *RecordStatus) Priority() int {
	if key, err := legacy.ParseKey(znode.Name(r.Path)); err == nil {
		return key.Priority
	}
	return -1
}

// ReadRecords says what became of each legacy record that the target, its legacy queue or a saved
// plan names, by path. at and saved may be nil. What the target says counts most, then
// a plan whose run has not begun, then the legacy queue. A legacy queue in another ensemble is not read. The error
// wraps [ErrDamaged], or comes from reading.
func ReadRecords(ctx context.Context, at *Reader, saved *Plan) ([]RecordStatus, error) {
	r := recordReader{byPath: map[string]*RecordStatus{}, choices: rules.DefaultChoices()}
	var src *Source
	if at != nil {
		var err error
		if r.t, err = target.ReadWhole(ctx, at); err != nil {
			return nil, &TargetError{err}
		}
		if src, err = originOf(ctx, r.t); err != nil && !errors.Is(err, ErrTwoEnsembles) {
			return nil, err
		}
	}
	if saved != nil && (r.t == nil || r.t.Ledger.FindRun(saved.Run) < 0) { // else the target says what became of the plan's records
		r.addPlan(saved)
	}
	if r.t != nil {
		if run := r.t.Ledger.Current(); run != nil {
			r.choices = run.Choices
		}
		if src != nil {
			if err := r.addSource(ctx, src); err != nil {
				return nil, err
			}
		}
		if err := r.addLedger(ctx); err != nil {
			return nil, &TargetError{err}
		}
		if src != nil {
			if err := r.addDecisions(ctx, src); err != nil {
				return nil, err
			}
		}
	}
	all := make([]RecordStatus, 0, len(r.byPath))
	for _, path := range slices.Sorted(maps.Keys(r.byPath)) {
		all = append(all, *r.byPath[path])
	}
	return all, nil
}

// addDecisions adds what a release would do with the records that were not handed over.
func (r *recordReader) addDecisions(ctx context.Context, src *Source) error {
	names, err := r.t.ReadNames(ctx)
	if err != nil {
		return &TargetError{err}
	}
	for c, err := range dueLooker(r.t, names, src).Cases(ctx, notHandedOver(r.t, src)) {
		if err != nil {
			return err
		}
		s := r.get(c.Entry.Record)
		switch c.Act {
		case handover.Withdraw:
			s.Outcome, s.Reason = verify.AtLegacy, "the legacy queue has its work: a release withdraws its job"
		case handover.Ask:
			s.Outcome, s.Reason = verify.MustBeDecided, string(c.Asks)
		}
	}
	return nil
}

type recordReader struct {
	t       *target.Target // nil if none is given
	choices rules.Choices
	byPath  map[string]*RecordStatus
	there   map[string]bool // the records in the source; nil if none is given
}

func (r *recordReader) get(path string) *RecordStatus {
	s := r.byPath[path]
	if s == nil {
		s = &RecordStatus{Path: path}
		r.byPath[path] = s
	}
	return s
}

func (r *recordReader) addPlan(p *Plan) {
	r.choices = p.Choices
	for i := range p.Records {
		line := &p.Records[i]
		s := r.get(line.Path)
		s.Queue, s.Status, s.Outcome, s.Reason, s.Job, s.State = line.Queue, line.Status, ofAction[line.Action], line.Reason, line.Job, line.State
	}
}

// addSource adds what the source says. Records that were migrated are completed by addLedger.
func (r *recordReader) addSource(ctx context.Context, src *Source) error {
	run := r.t.Ledger.Current()
	r.there = map[string]bool{}
	err := readAll(ctx, src, src.Paths(), ReadingSource, func(f source.Fetched) error {
		if !f.There {
			return nil
		}
		r.there[f.Path] = true
		s, known := r.byPath[f.Path], r.byPath[f.Path] != nil
		if !known {
			s = r.get(f.Path)
		}
		s.Queue = f.Queue
		if f.Err == nil {
			s.Status, s.Format, s.Time = f.Legacy.Header.Status.String(), string(f.Legacy.Format), f.Legacy.Header.Time
		}
		e := r.t.Ledger.Find(f.Path)
		if known && (e == nil || s.Outcome == WillBeCreated) {
			return nil // the plan says it
		}
		if e != nil {
			s.Outcome, s.Reason = verify.WasMigrated, ""
			return nil
		}
		d := rules.Decide(f.Record, r.choices)
		if s.Outcome, s.Reason = verify.OutcomeOf(run, d); d.Do != rules.Migrate {
			s.Outcome, s.Reason = ofDecision[d.Do], d.Reason
		}
		return nil
	})
	for path, s := range r.byPath {
		if !r.there[path] && r.t.Ledger.Find(path) == nil {
			s.Outcome, s.Reason = verify.NotMigrated, notThere
		}
	}
	return err
}

// notThere is why a record that was planned can't be read.
const notThere = "it is not in the source any more"

// addLedger adds what the target's ledger says, and the states of the jobs.
func (r *recordReader) addLedger(ctx context.Context) error {
	var migrated []*RecordStatus
	var paths []string
	for e := range r.t.Ledger.All() {
		s := r.get(e.Record)
		s.Job, s.Batch, s.Run = e.Job, e.Batch, r.t.Ledger.Runs[e.Run].ID
		s.Queue = cmp.Or(s.Queue, rules.KindOf(e.Job))
		migrated, paths = append(migrated, s), append(paths, e.Job+"/status")
	}
	there, at := make([]bool, len(paths)), 0
	err := r.t.Reader.MarkUnreadable().GetEach(ctx, paths, func(n znode.Node) {
		for n.Path != paths[at] {
			at++
		}
		there[at], migrated[at].State = true, stateIn(n.Data)
	})
	if err != nil {
		return err
	}
	for i, s := range migrated {
		switch {
		case there[i]:
			s.Outcome, s.Reason = verify.WasMigrated, ""
		case s.Outcome != WillBeCreated: // again
			s.Outcome, s.State, s.Reason = verify.WasRemoved, "", "its job was finished and cleaned up, or deleted"
		}
	}
	return nil
}
