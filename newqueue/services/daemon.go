package services

import (
	"slices"

	"mrtq/newqueue"
)

// Daemon is one of the services' workers, by the state that it works.
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
	Admin             Daemon = "Admin" // the Ruby admin tool: a person's, and no daemon
)

// Daemons are all daemons, in the order in which a submission meets them.
var Daemons = []Daemon{Batch, Initialize, Estimate, Provision, Download, Process, Store, Inventory, Notify, BatchReport, UpdateBatchReport, Cleanup, Access, Admin}

// chain is which daemon acquires the jobs of which state.
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

// Worker is the daemon that acquires jobs in a state. An administrator
// releases held jobs to pending, and requeues failed ones by the state that was
// left last: null and pending lead to estimating, past Initialize. It is "" for
// completed and deleted jobs.
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

// State is the state whose jobs a daemon acquires, "" for those that acquire
// none.
func (d Daemon) State() newqueue.JobState {
	for _, c := range chain {
		if c.daemon == d {
			return c.state
		}
	}
	return ""
}

// onTheWay are the daemons that a job in a state still has ahead of it.
func onTheWay(first Daemon) []Daemon {
	for i, c := range chain {
		if c.daemon == first {
			var rest []Daemon
			for _, c := range chain[i:] {
				rest = append(rest, c.daemon)
			}
			return rest
		}
	}
	return nil
}

// Effect is what happens to an item that does not meet a demand.
type Effect string

// The effects, the worst first.
const (
	StopsQueue     Effect = "stops-queue"     // every item behind it waits for ever
	EndsThread     Effect = "ends-thread"     // the service's thread ends
	StopsReports   Effect = "stops-reports"   // no later batch is reported
	Resubmits      Effect = "resubmits"       // its jobs are made a second time
	ReportsEarly   Effect = "reports-early"   // its batch is reported while it is at work
	Stuck          Effect = "stuck"           // locked and left until the daemon is restarted
	StuckReporting Effect = "stuck-reporting" // the batch stays in Reporting
	Waits          Effect = "waits"           // the daemon waits for a lock without end
	NotFound       Effect = "not-found"       // no daemon ever takes it
	Fails          Effect = "fails"           // the job or request becomes Failed
	NeverReported  Effect = "never-reported"  // the batch gets no report
	ReportLost     Effect = "report-lost"     // the batch ends, and its mail is never sent
	NeverCleaned   Effect = "never-cleaned"   // the batch stays for ever
	ReportsWrong   Effect = "reports-wrong"   // the batch's report leaves it out
	BreaksPage     Effect = "breaks-page"     // a page or check of the admin tool fails
	Harmless       Effect = "harmless"        // no daemon reads it any more
)

// effectWords say an effect to an operator; %s is the daemon.
var effectWords = map[Effect]string{
	StopsQueue:     "it stops everything behind it at %s",
	EndsThread:     "it ends the thread of %s, until the service is started again",
	StopsReports:   "it stops the reports of every batch behind it",
	Resubmits:      "%s would take the batch for a new submission and make its jobs a second time",
	ReportsEarly:   "%s would report the batch before this job is done",
	Stuck:          "%s would lock it and leave it until the daemon is restarted",
	StuckReporting: "its batch would stick in Reporting",
	Waits:          "%s would wait for its lock without end",
	NotFound:       "%s would never find it",
	Fails:          "%s would fail it",
	NeverReported:  "its batch would never be reported",
	ReportLost:     "its report mail would be lost",
	NeverCleaned:   "%s would never remove it",
	ReportsWrong:   "the report of its batch would leave it out",
	BreaksPage:     "a page of the admin tool would break",
	Harmless:       "no daemon reads it any more",
}

// Blocking reports whether an item with this effect should keep a migration
// from starting. The others are warned of.
func (e Effect) Blocking() bool {
	return !slices.Contains([]Effect{NeverCleaned, BreaksPage, Harmless}, e)
}

// Stop is one daemon and what a fault makes it do.
type Stop struct {
	Daemon Daemon
	Effect Effect
}
