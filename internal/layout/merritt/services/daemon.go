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

func (d Daemon) turn() int {
	for i, c := range chain {
		if c.daemon == d {
			return i
		}
	}
	return -1
}

// Effect is what happens to an item that does not meet a requirement.
type Effect struct {
	name  string
	words string // for an operator; %s is the daemon
}

// The effects, the worst first.
var (
	StopsQueue     = Effect{"stops-queue", "%s would stop at it, and everything behind it would wait"}
	EndsThread     = Effect{"ends-thread", "%s would stop working until the service is restarted"}
	StopsReports   = Effect{"stops-reports", "no batch behind it would be reported"}
	Resubmits      = Effect{"resubmits", "%s would take the batch for a new submission and create its jobs a second time"}
	StoresEmpty    = Effect{"stores-empty", "%s would store it without its content"}
	ReportsEarly   = Effect{"reports-early", "%s would report the batch before this job is done"}
	Stuck          = Effect{"stuck", "%s would lock it and leave it until the daemon is restarted"}
	StuckReporting = Effect{"stuck-reporting", "its batch would stick in Reporting"}
	Waits          = Effect{"waits", "%s would wait forever for its lock"}
	NotFound       = Effect{"not-found", "%s would never find it"}
	Fails          = Effect{"fails", "%s would fail it"}
	NeverReported  = Effect{"never-reported", "its batch would never be reported"}
	ReportLost     = Effect{"report-lost", "its report email would be lost"}
	NeverCleaned   = Effect{"never-cleaned", "%s would never remove it"}
	UpdatesReport  = Effect{"updates-report", "nobody reports them before an administrator chooses Update Reporting"}
	ReportsWrong   = Effect{"reports-wrong", "the report of its batch would leave it out"}
	BreaksPage     = Effect{"breaks-page", "a page of the admin tool would break"}
	BreaksForNow   = Effect{"breaks-for-now", "until the cleanup removes it, a page of the admin tool would break"}
	Harmless       = Effect{"harmless", "nothing would happen, because no daemon reads it any more"}
)

// Effects are all effects. Callers must not change it.
var Effects = []Effect{StopsQueue, EndsThread, StopsReports, Resubmits, StoresEmpty, ReportsEarly, Stuck, StuckReporting, Waits,
	NotFound, Fails, NeverReported, ReportLost, NeverCleaned, UpdatesReport, ReportsWrong, BreaksPage, BreaksForNow, Harmless}

// String returns the name of the effect in merritt.yaml.
func (e Effect) String() string { return e.name }

// Blocking reports whether a migration refuses to start because of an item with
// this effect. The other effects are only warnings.
func (e Effect) Blocking() bool {
	return !slices.Contains([]Effect{NeverCleaned, UpdatesReport, BreaksPage, BreaksForNow, Harmless}, e)
}

// Stop is one daemon, and what it does if a requirement is not met.
type Stop struct {
	Daemon Daemon
	Effect Effect
}

// String says what would happen, in words for an operator.
func (s Stop) String() string {
	return strings.ReplaceAll(s.Effect.words, "%s", string(s.Daemon))
}
