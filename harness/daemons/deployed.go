package daemons

import (
	"slices"

	"mrtq/internal/layout/merritt/services"
)

var turns = map[services.Daemon]func(*Turn){
	services.Batch:             (*Turn).submitBatch,
	services.BatchReport:       (*Turn).reportBatch,
	services.UpdateBatchReport: (*Turn).updateReport,
	services.Cleanup:           (*Turn).clean,
	services.Access:            (*Turn).assembleLarge,
}

// Daemon returns another process of a daemon of the deployed services. Of
// [services.Access] it is a worker for large requests.
func (w *World) Daemon(d services.Daemon) *Actor {
	act := turns[d]
	if i := slices.IndexFunc(deployedDaemons, func(c daemon) bool { return c.name == d }); i >= 0 {
		act = deployedDaemons[i].consume
	}
	return w.actor(string(d), d, act)
}

func (w *World) deployed() []*Actor {
	all := []*Actor{w.Daemon(services.BatchReport), w.Daemon(services.Batch)} // first, because they need not wait for a job
	for _, d := range deployedDaemons {
		all = append(all, w.Daemon(d.name))
	}
	return append(all, w.Daemon(services.UpdateBatchReport), w.Daemon(services.Access),
		w.actor("Access (small)", services.Access, (*Turn).assembleSmall))
}
