package services

import (
	"slices"
	"strings"

	"mrtq/newqueue"
)

// Daemon is one of the services' workers. Most work on the jobs of one state.
type Daemon string

// The daemons.
const (
	Batch             Daemon = "Batch"
	Initialize        Daemon = "Initialize"
	Estimate          Daemon = "Estimate"
	Provision         Daemon = "Provision"
	Download          Daemon = "Download"
	Process           Daemon = "Process"
	Store             Daemon = "Store"
	Inventory         Daemon = "Inventory"
	Notify            Daemon = "Notify"
	BatchReport       Daemon = "BatchReport"
	UpdateBatchReport Daemon = "UpdateBatchReport"
	Cleanup           Daemon = "Cleanup"
	Access            Daemon = "Access"
	Admin             Daemon = "Admin" // the Ruby admin tool, which a person uses; no daemon
)

// Daemons are all daemons, in the order in which a submission meets them.
var Daemons = []Daemon{Batch, Initialize, Estimate, Provision, Download, Process, Store, Inventory, Notify, BatchReport, UpdateBatchReport, Cleanup, Access, Admin}

// chain says which daemon acquires the jobs of which state.
var chain = []struct {
	state  newqueue.JobState
	daemon Daemon
}{
	{newqueue.JobPending, Initialize},
	{newqueue.JobEstimating, Estimate},
	{newqueue.JobProvisioning, Provision},
	{newqueue.JobDownloading, Download},
	{newqueue.JobProcessing, Process},
	{newqueue.JobStoring, Store},
	{newqueue.JobRecording, Inventory},
	{newqueue.JobNotify, Notify},
}

// Worker returns the daemon that acquires the jobs in a state, or "" for
// completed and deleted jobs. A held job is acquired after an administrator
// releases it to pending. A failed job is acquired after a requeue, which depends
// on the last successful state: null and pending lead to estimating, so
// Initialize is skipped.
func Worker(state, last newqueue.JobState) Daemon {
	switch state {
	case newqueue.JobHeld:
		state = newqueue.JobPending
	case newqueue.JobFailed:
		if last == "" {
			last = newqueue.JobPending
		}
		state = newqueue.Success(last, newqueue.MrtZK)
	}
	for _, c := range chain {
		if c.state == state {
			return c.daemon
		}
	}
	return ""
}

// turn is a daemon's place in the chain, -1 if it acquires no jobs.
func (d Daemon) turn() int {
	for i, c := range chain {
		if c.daemon == d {
			return i
		}
	}
	return -1
}

// Effect is what happens to an item that does not meet a demand.
type Effect string

// The effects, the worst first.
const (
	StopsQueue     Effect = "stops-queue"     // every item behind it waits forever
	EndsThread     Effect = "ends-thread"     // the service's thread ends
	StopsReports   Effect = "stops-reports"   // no later batch is reported
	Resubmits      Effect = "resubmits"       // its jobs are created a second time
	StoresEmpty    Effect = "stores-empty"    // its object is stored without its content, and reported as done
	ReportsEarly   Effect = "reports-early"   // its batch is reported before the job is done
	Stuck          Effect = "stuck"           // locked and left until the daemon is restarted
	StuckReporting Effect = "stuck-reporting" // the batch stays in Reporting
	Waits          Effect = "waits"           // the daemon waits forever for a lock
	NotFound       Effect = "not-found"       // no daemon ever takes it
	Fails          Effect = "fails"           // the job or request becomes Failed
	NeverReported  Effect = "never-reported"  // the batch gets no report
	ReportLost     Effect = "report-lost"     // the batch ends, and its mail is never sent
	NeverCleaned   Effect = "never-cleaned"   // the batch stays forever
	ReportsWrong   Effect = "reports-wrong"   // the batch's report leaves it out
	BreaksPage     Effect = "breaks-page"     // a page or check of the admin tool fails
	Harmless       Effect = "harmless"        // no daemon reads it any more
)

// effectWords describe the effects for an operator. %s is the daemon.
var effectWords = map[Effect]string{
	StopsQueue:     "%s would stop at it, and everything behind it would wait",
	EndsThread:     "%s would stop working until the service is restarted",
	StopsReports:   "no batch behind it would be reported",
	Resubmits:      "%s would take the batch for a new submission and create its jobs a second time",
	StoresEmpty:    "%s would store it without its content",
	ReportsEarly:   "%s would report the batch before this job is done",
	Stuck:          "%s would lock it and leave it until the daemon is restarted",
	StuckReporting: "its batch would stick in Reporting",
	Waits:          "%s would wait forever for its lock",
	NotFound:       "%s would never find it",
	Fails:          "%s would fail it",
	NeverReported:  "its batch would never be reported",
	ReportLost:     "its report mail would be lost",
	NeverCleaned:   "%s would never remove it",
	ReportsWrong:   "the report of its batch would leave it out",
	BreaksPage:     "a page of the admin tool would break",
	Harmless:       "nothing would happen, because no daemon reads it any more",
}

// Blocking reports whether a migration refuses to start because of an item with
// this effect. The other effects are only warnings.
func (e Effect) Blocking() bool {
	return !slices.Contains([]Effect{NeverCleaned, BreaksPage, Harmless}, e)
}

// Stop is one daemon, and what it does if a demand is not met.
type Stop struct {
	Daemon Daemon
	Effect Effect
}

// String says what would happen, in words for an operator.
func (s Stop) String() string {
	return strings.ReplaceAll(effectWords[s.Effect], "%s", string(s.Daemon))
}
