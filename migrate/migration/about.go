package migration

import (
	"slices"

	"mrtq/legacy"
)

// About returns the paths of the records that a choice is about, by the choice's name. Records
// that were migrated before are not among them.
func (p *Plan) About(choice string) (paths []string) {
	status := map[string]legacy.Status{"consumed": legacy.Consumed, "completed": legacy.Completed, "deleted": legacy.Deleted, "failed": legacy.Failed}
	unreadable := map[string]bool{} // no choice is about them: somebody must give mrtq permission
	for _, x := range p.Problems {
		unreadable[x.Path] = unreadable[x.Path] || x.Kind == ProblemUnreadable
	}
	for i := range p.Records {
		r := &p.Records[i]
		of, named := status[choice]
		switch {
		case r.Job != "":
		case named && r.Status == of.String(), choice == "undecodable" && r.Status == "" && !unreadable[r.Path]:
			paths = append(paths, r.Path)
		}
	}
	return append(paths, p.found(func(f *Finding) bool { return f.Choice == choice })...)
}

// Affected returns the paths of the records and batches that have findings with an effect.
func (p *Plan) Affected(e Effect) []string {
	return p.found(func(f *Finding) bool { return f.Effect == e })
}

func (p *Plan) found(is func(*Finding) bool) (paths []string) {
	for i := range p.Findings {
		for _, item := range p.Findings[i].Items {
			if is(&p.Findings[i]) {
				paths = append(paths, item.Path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Tally counts the records that become a job or request, by what they were and become.
type Tally struct {
	Queue  QueueKind
	Status string // legacy status
	State  string // in which the job or request begins
	Count  int
}

// Tallies counts the records that a plan creates jobs for, in the order of their queues.
func (p *Plan) Tallies() (tallies []Tally) {
	at := map[Tally]int{}
	for i := range p.Records {
		r := &p.Records[i]
		if r.Action != ActionCreate {
			continue
		}
		key := Tally{Queue: r.Queue, Status: r.Status, State: r.State}
		if _, known := at[key]; !known {
			at[key] = len(tallies)
			tallies = append(tallies, key)
		}
		tallies[at[key]].Count++
	}
	return tallies
}
