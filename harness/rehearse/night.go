package rehearse

import (
	"context"
	"slices"
	"time"

	"mrtq/migrate"
	"mrtq/newqueue"
)

// Night is what the night will be, as far as the rehearsal shows.
type Night struct {
	// RoundTrip is how long the real server takes to answer, and Here the rehearsal's, in seconds.
	// RoundTrip is 0 if the source is no server; then nothing is scaled.
	RoundTrip float64 `json:"round_trip"`
	Here      float64 `json:"round_trip_here"`
	// Steps are those between the stop of the legacy workers and the start of the new ones, and
	// Freeze is their sum in seconds.
	Steps  []Step  `json:"steps"`
	Freeze float64 `json:"freeze"`
	// Mails is how many reports the services send when the queue is worked.
	Mails int `json:"mails"`
	// Cleanup are the batches that the hourly cleanup removes within the hour, by batchID.
	Cleanup []string `json:"cleanup"`
	// Waits counts jobs that begin in a state in which no worker takes them, by state.
	Waits map[string]int `json:"waits"`
	// Fails are the records with which the services can't finish, and why.
	Fails []Failing `json:"fails"`
}

// Failing is one reason why the services can't finish with some records.
type Failing struct {
	Why     string   `json:"why"`
	Records []string `json:"records"` // or batches, by their paths below /batch-uuids
}

// frozen are the steps for which the queue is frozen.
var frozen = []string{"plan", "migrate", "verify", "release"}

// forecast says what the night will be. here and real are the round trips.
func forecast(p *migrate.Plan, records []foretold, batches map[string]*batch, steps []Step, here, real time.Duration) *Night {
	n := &Night{RoundTrip: real.Seconds(), Here: here.Seconds(), Steps: []Step{}, Cleanup: []string{}, Waits: map[string]int{}, Fails: []Failing{}}
	for _, s := range steps {
		if !slices.Contains(frozen, s.Name) {
			continue
		}
		if real > here {
			s.Seconds += float64(s.Packets) * (real - here).Seconds()
		}
		n.Steps = append(n.Steps, s)
		n.Freeze += s.Seconds
	}
	for _, b := range batches {
		if b.Reports {
			n.Mails++
		}
	}
	for _, b := range p.Batches {
		if b.State == string(newqueue.BatchCompleted) {
			n.Cleanup = append(n.Cleanup, b.UUID)
		}
	}
	for i := range records {
		if f := &records[i]; !f.Runs {
			n.Waits[f.State]++
		}
	}
	for _, f := range p.Services {
		if !f.Blocking {
			continue
		}
		one := Failing{Why: f.What + ": " + f.Then}
		for _, i := range f.Items {
			one.Records = append(one.Records, i.Path)
		}
		n.Fails = append(n.Fails, one)
	}
	return n
}

// asked is how often a round trip is measured.
const asked = 25

// RoundTrip measures how long a server takes to answer: half of the answers came sooner.
func RoundTrip(ctx context.Context, r *migrate.Reader) (time.Duration, error) {
	var took []time.Duration
	for range asked {
		began := time.Now()
		if _, _, err := r.Exists(ctx, "/"); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[asked/2], nil
}
