package migrate

import "context"

// Phase is what a plan, a migration, a verification or a rollback is doing now.
type Phase string

// The phases. Each comment says what the phase counts; see [WithPhases].
const (
	ReadingTarget    Phase = "reading the target"             // znodes, or jobs and requests
	ReadingSource    Phase = "reading the source"             // records
	Planning         Phase = "planning"                       // nothing
	CheckingSource   Phase = "checking the source again"      // records
	AwaitingTurn     Phase = "waiting for other migrators"    // nothing
	Sending          Phase = "sending"                        // records
	Comparing        Phase = "comparing jobs"                 // jobs and requests
	ComparingRecords Phase = "comparing records without jobs" // records
	ComparingBatches Phase = "comparing batches"              // batches
	ReadingJobs      Phase = "reading the jobs"               // jobs and requests
	ReadingBatches   Phase = "reading the batches"            // batches
	Restoring        Phase = "restoring"                      // znodes
	RollingBack      Phase = "rolling back"                   // jobs, requests and batches
)

type phasesKey struct{}

// WithPhases returns a context under which all work reports its phase and its progress:
// done of total. A total of 0 means that it is not known. report is called for every item,
// so it must be quick. Calls may overlap.
func WithPhases(ctx context.Context, report func(p Phase, done, total int)) context.Context {
	return context.WithValue(ctx, phasesKey{}, report)
}

// phases is the function of [WithPhases], or one that does nothing.
func phases(ctx context.Context) func(p Phase, done, total int) {
	if report, ok := ctx.Value(phasesKey{}).(func(Phase, int, int)); ok {
		return report
	}
	return func(Phase, int, int) {}
}
