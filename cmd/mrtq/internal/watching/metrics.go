package watching

import (
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"mrtq/migrate"
	"mrtq/migrate/live"
	"mrtq/newqueue"
)

// metrics are the metrics of the last view.
type metrics struct{ view atomic.Pointer[live.View] }

func (m *metrics) set(v live.View) { m.view.Store(&v) }

// The metrics of watch. Labels have fixed sets of values, so that no client can
// create time series with its znodes: undocumented states count as "other".
var (
	metricTargetUp      = metric("target_up", "1 while the target is watched, 0 while there is no connection to it.")
	metricJobs          = metric("jobs", "Jobs in a state.", "state")
	metricJobsEntered   = metric("jobs_entered_total", "Jobs that came into a state since its folder was created.", "state")
	metricJobsLeft      = metric("jobs_left_total", "Jobs that left a state since its folder was created.", "state")
	metricJobOldest     = metric("job_oldest_seconds", "Age of the job in a state that was created first.", "state")
	metricRequests      = metric("access_requests", "Access requests in a queue, in any state.", "queue")
	metricRequestOldest = metric("access_request_oldest_seconds", "Age of the access request in a queue that was created first.", "queue")
	metricBatches       = metric("batches", "Batches in any state.")
	metricBatchOldest   = metric("batch_oldest_seconds", "Age of the batch that was created first.")
	metricLocks         = metric("locks", "Locks below /locks, and those on jobs, batches and access requests that were found.", "kind")
	metricLockOldest    = metric("lock_oldest_seconds", "Age of the oldest lock that was found, 0 without locks.")
	metricHeld          = metric("queue_held", "1 while there is a hold on a queue.", "queue")
	metricCollections   = metric("collections_held", "Collections on which there is a hold.")
	metricRecordsDone   = metric("run_records_done_total", "Records for which the newest run has created a job or an access request.")
	metricPlanned       = metric("run_records_planned", "Records for which the newest run will have created a job or an access request when it is done.")
	metricMigrators     = metric("migrators", "Sessions in the election of migrators: one runs, the others wait.")
	metricRunState      = metric("run_state", "1 for the state of the newest run, 0 for the others.", "state")
	metricLegacy        = metric("legacy_children", "Records in a legacy queue, or locks in a folder of legacy locks, by its znode.", "node")
	metricTransactions  = metric("run_transactions_total", "Transactions of the newest run and of its rollback.")
)

// Describe implements [prometheus.Collector]. It describes nothing, because a view needn't have
// every metric.
func (m *metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (m *metrics) Collect(metrics chan<- prometheus.Metric) {
	v := m.view.Load()
	if v == nil {
		v = &live.View{}
	}
	for _, s := range samples(*v) {
		metrics <- prometheus.MustNewConstMetric(s.desc, s.kind, s.value, s.labels...)
	}
}

// sample is one number of a metric.
type sample struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	value  float64
	labels []string
}

// samples returns the numbers of a view. It is a pure function. Without a connection, the
// only sample says so.
func samples(v live.View) []sample {
	var out []sample
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out = append(out, sample{d, prometheus.GaugeValue, value, labels})
	}
	counter := func(d *prometheus.Desc, value float64, labels ...string) {
		out = append(out, sample{d, prometheus.CounterValue, value, labels})
	}
	gauge(metricTargetUp, truth(v.Connected))
	if !v.Connected {
		return out
	}
	for _, q := range byState(v.Jobs) {
		gauge(metricJobs, float64(q.Count), q.Name)
		counter(metricJobsEntered, float64(q.Entered), q.Name)
		counter(metricJobsLeft, float64(q.Left), q.Name)
		if q.Oldest != nil {
			gauge(metricJobOldest, q.Oldest.Seconds, q.Name)
		}
	}
	for _, q := range v.Access {
		gauge(metricRequests, float64(q.Count), q.Name)
		if q.Oldest != nil {
			gauge(metricRequestOldest, q.Oldest.Seconds, q.Name)
		}
	}
	for _, q := range v.Batches {
		gauge(metricBatches, float64(q.Count))
		if q.Oldest != nil {
			gauge(metricBatchOldest, q.Oldest.Seconds)
		}
	}
	for _, kind := range live.LockKinds {
		gauge(metricLocks, float64(v.Locks.Count[kind]), string(kind))
	}
	gauge(metricLockOldest, v.Locks.Oldest)
	holds, of := map[string]bool{}, 0
	for _, h := range v.Holds {
		if h.Collection {
			of++
		} else {
			holds[h.Name] = true
		}
	}
	for _, q := range newqueue.QueueHolds {
		gauge(metricHeld, truth(holds[string(q)]), string(q))
	}
	for _, q := range v.Source {
		gauge(metricLegacy, float64(q.Count), strings.ToValidUTF8(q.Name, "?"))
	}
	gauge(metricCollections, float64(of))
	gauge(metricMigrators, float64(v.Migrators))
	if r := v.Migration; r != nil && r.Damage == "" {
		for _, state := range []migrate.RunState{migrate.Running, migrate.Done, migrate.RollingBack, migrate.RolledBack, migrate.Retiring} {
			gauge(metricRunState, truth(r.State == state), string(state))
		}
		counter(metricRecordsDone, float64(r.Records))
		if r.Total > 0 {
			gauge(metricPlanned, float64(r.Total))
		}
		counter(metricTransactions, float64(r.Transactions))
	}
	return out
}

// otherStates is the label of undocumented states.
const otherStates = "other"

// byState returns the counts of jobs by state. It adds up all undocumented states.
func byState(queues []live.Queue) []live.Queue {
	var out []live.Queue
	other := live.Queue{Name: otherStates}
	for _, q := range queues {
		if newqueue.JobState(q.Name).Known() {
			out = append(out, q)
			continue
		}
		other.Count += q.Count
		other.Entered += q.Entered
		other.Left += q.Left
	}
	if other.Entered > 0 {
		out = append(out, other)
	}
	return out
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
