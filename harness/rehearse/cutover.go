package rehearse

import (
	"slices"

	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Cutover is what the cutover will be, as far as the rehearsal shows.
type Cutover struct {
	// Steps are those between the stop of submission and the start of the new services, and Freeze
	// is their sum in seconds. Legacy workers may work until the last one, the release.
	Steps  []Step  `json:"steps"`
	Freeze float64 `json:"freeze"`
	// Emails is how many reports the services send when the queue is worked.
	Emails int `json:"emails"`
	// Cleanup are the batches that the hourly cleanup removes within the hour, by batchID.
	Cleanup []string `json:"cleanup"`
}

func forecast(p *migration.Plan, batches map[string]*batch, steps []Step) *Cutover {
	n := &Cutover{Steps: slices.Clone(steps), Cleanup: []string{}}
	for _, s := range steps {
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
	return n
}
