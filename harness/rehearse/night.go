package rehearse

import (
	"cmp"
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
	// Steps are those between the stop of submission and the start of the new services, and Freeze
	// is their sum in seconds. Legacy workers may work until the last one, the release.
	Steps  []Step  `json:"steps"`
	Freeze float64 `json:"freeze"`
	// Emails is how many reports the services send when the queue is worked.
	Emails int `json:"emails"`
	// Cleanup are the batches that the hourly cleanup removes within the hour, by batchID.
	Cleanup []string `json:"cleanup"`
	// Idle are the records whose jobs begin in a state in which no worker takes them, and those that
	// become no job, by why.
	Idle []Idle `json:"idle"`
	// Fails are the records with which the services can't finish, and why.
	Fails []Failing `json:"fails"`
}

// Failing is one reason why the services can't finish with some records.
type Failing struct {
	Why     string   `json:"why"`
	Records []string `json:"records"` // or batches, by their paths below /batch-uuids
}

// Idle is one reason why no worker takes the jobs of some records, or why they become none.
type Idle struct {
	State   string   `json:"state"` // in which their jobs begin, or skipped or quarantined
	Why     string   `json:"why"`
	Records []string `json:"records"`
}

// The states of records that become no job.
const skipped, quarantined = "skipped", "quarantined"

// idleRecords are the records of a plan that no worker takes, in the order of their states and whys.
func idleRecords(p *migrate.Plan) []Idle {
	all := []Idle{}
	for i := range p.Records {
		r := &p.Records[i]
		state := r.State
		switch {
		case r.Action == migrate.ActSkip:
			state = skipped
		case r.Action == migrate.ActQuarantine:
			state = quarantined
		case r.Action != migrate.ActCreate || !slices.Contains(idle, r.State):
			continue
		}
		why := whyIdle(p, r)
		at := slices.IndexFunc(all, func(o Idle) bool { return o.State == state && o.Why == why })
		if at < 0 {
			at, all = len(all), append(all, Idle{State: state, Why: why})
		}
		all[at].Records = append(all[at].Records, r.Path)
	}
	slices.SortFunc(all, func(a, b Idle) int { return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Why, b.Why)) })
	return all
}

// whyIdle says why no worker takes a record: its legacy status, and the choice about it, if there is one.
func whyIdle(p *migrate.Plan, r *migrate.PlanRecord) string {
	about, why := r.Status, "its legacy status is "+r.Status
	if r.Status == "" {
		about, why = "undecodable", "it can't be decoded"
	}
	choice := ""
	if i := slices.IndexFunc(migrate.AllChoices, func(c migrate.Choice) bool { return c.Name == about }); i >= 0 {
		choice = *migrate.AllChoices[i].Value(&p.Choices)
		why += ", and --" + about + " is " + choice
	}
	if choice == string(newqueue.JobHeld) && r.State != choice {
		why += ", but only an ingest job can be held"
	}
	return why
}

// frozen are the steps in which nothing is submitted.
var frozen = []string{"plan", "migrate", "verify", "release"}

// forecast says what the night will be. here and real are the round trips.
func forecast(p *migrate.Plan, batches map[string]*batch, steps []Step, here, real time.Duration) *Night {
	n := &Night{RoundTrip: real.Seconds(), Here: here.Seconds(), Steps: []Step{}, Cleanup: []string{}, Idle: idleRecords(p), Fails: []Failing{}}
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
			n.Emails++
		}
	}
	for _, b := range p.Batches {
		if b.State == string(newqueue.BatchCompleted) {
			n.Cleanup = append(n.Cleanup, b.UUID)
		}
	}
	for _, f := range p.Services {
		if !fails(&f) {
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

// RoundTrip measures how long a server takes to answer: half of the answers came sooner. The time for
// which the session's own limit keeps a question does not count. Nobody else uses the limit meanwhile.
func RoundTrip(ctx context.Context, r *migrate.Reader) (time.Duration, error) {
	var took []time.Duration
	for range asked {
		began, before := time.Now(), r.Delayed()
		if _, _, err := r.Exists(ctx, "/"); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began)-(r.Delayed()-before))
	}
	slices.Sort(took)
	return took[asked/2], nil
}
