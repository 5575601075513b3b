package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Options are the options of a verification.
type Options struct {
	// Quarantined reports whether the bytes of an undecodable record are kept. nil means
	// that nobody knows.
	Quarantined func(migration.Record) bool
	// Reading is called with how many records were read, until the first jobs were looked at, and Progress with how many jobs
	// and requests were.
	Reading, Progress func(done, total int)
}

type verifier struct {
	src     *source.Source
	t       *target.Target
	names   *target.Names
	opt     Options
	dialect newqueue.Dialect
	verdict *migration.Verdict
	mu      sync.Mutex // guards what follows while parts are compared
	// expected counts the entries of the runs' jobs that are there, by their parent.
	expected map[string]int
	batches  map[string]*batch           // of runs, by bid
	last     map[string]*ledger.Migrated // the last job of each group: see [verifier.checkOrder]
	queues   map[string]int64            // the czxids of the legacy queue's nodes
	read     int                         // records that were read
	done     int                         // jobs and requests that were looked at
}

// Verify compares a target with its source. t and names are the target as it was read. An
// error comes from reading.
func Verify(ctx context.Context, src *source.Source, t *target.Target, names *target.Names, opt Options) (*migration.Verdict, error) {
	d, _, err := t.Dialect(ctx)
	if err != nil {
		return nil, err
	}
	v := newVerifier(src, t, names, opt)
	v.dialect = cmp.Or(d, newqueue.Design)
	v.aboutRuns()
	lost, err := standing.LostRecords(ctx, t, src)
	if err != nil {
		return nil, err
	}
	for _, path := range lost {
		v.differ(migration.Difference{Kind: migration.DifferenceLostRecord, Path: path, Message: "a run that the restored backup does not know has handed this record over, and no ledger has it: if no other record has its work, submit it again; then delete this znode", By: "a restore of a backup that is older than a run"})
	}
	steps := []func(context.Context) error{
		v.records, // every legacy record, and the job that it became
		v.checkBatches,
		v.checkEntries, // after all jobs and batches are known
		v.checkOwnACLs,
	}
	if d != "" { // else it had no lists of either dialect, and what is there now, a service has created meanwhile
		steps = append(steps, v.checkLists)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	v.verdict.Unrelated = v.t.CountUnrelated(v.names)
	slices.SortFunc(v.verdict.Differences, func(a, b migration.Difference) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Message, b.Message))
	})
	return v.verdict, nil
}

func newVerifier(src *source.Source, t *target.Target, names *target.Names, opt Options) *verifier {
	v := &verifier{
		src: src, t: t, names: names, opt: opt, queues: src.Czxids(),
		verdict: &migration.Verdict{Differences: []migration.Difference{}, States: map[string]int{}, NotMigrated: []string{}, Legacy: []migration.Note{}, Removed: []migration.Note{}, Notices: []migration.Note{}, Released: []newqueue.QueueHold{}, Choices: migration.DefaultChoices()},

		expected: map[string]int{}, batches: map[string]*batch{}, last: map[string]*ledger.Migrated{},
	}
	for b := range t.Ledger.Batches() {
		v.batches[b.ID] = newBatch(b, &t.Ledger.Runs[b.Run])
	}
	v.verdict.Holds = t.Holds
	if run := t.Ledger.Current(); run != nil {
		v.verdict.Run, v.verdict.State, v.verdict.Source, v.verdict.Choices = run.ID, run.State, run.Source, run.Choices
		v.verdict.Current = *run
	}
	return v
}

func (v *verifier) differ(d migration.Difference) {
	v.verdict.Differences = append(v.verdict.Differences, d)
}

func (v *verifier) aboutRuns() {
	if len(v.t.Ledger.Runs) == 0 {
		v.differ(migration.Difference{Kind: migration.DifferenceUnfinished, Path: ledger.MigrationPath, Message: "nothing was migrated to this target"})
	}
	if newest := v.t.Ledger.Newest(); newest != nil && v.t.JobsVersion >= 0 && v.t.Named != newest.ID {
		v.differ(migration.Difference{Kind: migration.DifferenceLayout, Path: newqueue.JobsPath,
			Message: fmt.Sprintf("it does not name the newest run, so mrtq would not notice that a run's record was removed; expected %s. Write that into it", newest.ID)})
	}
	due, releasing := v.t.Unreleased()
	v.verdict.Due, v.verdict.Releasing = due, len(releasing) > 0
	for i := range v.t.Ledger.Runs {
		run := &v.t.Ledger.Runs[i]
		path := ledger.RunPath(run.ID)
		if run.Unfinished() {
			v.differ(migration.Difference{Kind: migration.DifferenceUnfinished, Path: path, Message: "it is not finished: finish that first"})
		}
		if run.RestoredUnnoted() {
			v.differ(migration.Difference{Kind: migration.DifferenceRestored, Path: path, Message: "it was restored from a backup: a job that was finished after the backup was made would run again"})
		}
		if run.State != migration.RunDone {
			continue
		}
		for _, q := range newqueue.QueueHolds {
			if v.t.MayHaveBegun(run, q) && !slices.Contains(v.verdict.Released, q) {
				v.verdict.Released = append(v.verdict.Released, q)
			}
		}
	}
}

func (v *verifier) isExact(run *migration.Run, q newqueue.QueueHold) bool {
	return (run.State == migration.RunDone || run.State == migration.RunRunning) && !v.t.MayHaveBegun(run, q)
}

func (v *verifier) progress(n int) {
	v.done += n
	v.opt.Progress(v.done, v.t.Ledger.Len())
}
