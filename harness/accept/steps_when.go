package accept

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cucumber/godog"
)

func actorNamed(which, who string) string {
	if strings.Contains(which, "other") {
		return "other " + who
	}
	return who
}

func (w *world) workerAcquires(which, kind, state string) error {
	r := request{Verb: "acquire", What: kind, From: state}
	err := error(nil)
	if kind == "request" {
		r.Name, r.From = state, "pending"
		err = oneOf("a size", state, []string{"small", "large"})
	} else {
		err = stateIn(kind, state, w.dialect)
	}
	if err != nil {
		return err
	}
	return w.act(actorNamed(which, "worker"), r)
}

var workersVerbs = map[string]string{
	"succeeds": "succeed", "fails it": "fail", "holds it": "hold", "unlocks it": "unlock",
	"makes its report": "report", "records the report as sent": "finish",
}

func found(service, url string) (name string, doc object) {
	if service == "storage" {
		return "store", object{"manifest_url": url, "mode": "add", "delete": "none"}
	}
	return "inventory", object{"manifest_url": url, "mode": "full"}
}

func identifiers(ark string) object { return object{"primary_id": ark, "local_id": []string{"loc-1"}} }

func (w *world) workerMakes(r request) func(*godog.Table) error {
	return func(t *godog.Table) (err error) {
		if w.jobs, err = w.manifest(t); err != nil {
			return err
		}
		r.Jobs = w.jobs
		return w.act("worker", r)
	}
}

func (w *world) submissionComesIn(uuid string) error {
	w.uuid = uuid
	return w.act("API", request{Verb: "create", What: "batch", Docs: nodes{"submission": w.submission(uuid)}})
}

var adminsVerbs = map[string]request{
	"holds":                        {Verb: "admin-move", From: "pending", To: "held"},
	"releases":                     {Verb: "admin-move", From: "held", To: "pending"},
	"retries":                      {Verb: "admin-move", From: "failed", To: "processing"},
	"requests an update report of": {Verb: "admin-move", From: "failed", To: "update-reporting"},
	"resumes":                      {Verb: "resume"},
	"deletes":                      {Verb: "delete"},
	"gives up":                     {Verb: "give-up"},
}

func (w *world) adminDoes(action, name, at, message string) error {
	r := adminsVerbs[action]
	r.Item, r.To, r.Message = name, cmp.Or(at, r.To), message
	return w.act("administrator", r)
}

func (w *world) sessionEnds(which, who string) error {
	name := actorNamed(which, who)
	if _, err := w.known(name); err != nil {
		return err
	}
	err := w.during(name, func(_ context.Context, a *actor) error { return a.End() })
	delete(w.actors, name)
	return err
}

// workerRespectsHolds lets a worker acquire a pending batch or job. The worker holds it
// if its collection is held.
func (w *world) workerRespectsHolds(what string) error {
	return w.during("worker", func(ctx context.Context, a *actor) error {
		for _, r := range []request{{Verb: "acquire", What: what, From: "pending"}, {Verb: "lock-taken", What: "collection hold"}} {
			r.Name = w.last.Profile
			if err := w.do(ctx, a, r, &w.last); err != nil {
				return err
			}
		}
		verb := map[string]string{"batch": "unlock", "job": "succeed"}[what]
		if w.last.Yes {
			verb = "hold"
		}
		return w.do(ctx, a, request{Verb: verb}, &w.last)
	})
}

// workersTakeOn lets workers move a job step by step. Each step is an act, and it
// compares the whole tree after each. The next Then reports what was wrong.
func (w *world) workersTakeOn(name, to string) error {
	at, chain := w.names["job "+name], w.chain()
	from, end := slices.Index(chain, w.stateOf(w.seen, at)), slices.Index(chain, to)
	if from < 0 || end < from {
		return fmt.Errorf("job %s can't get to %s", name, to)
	}
	for i := from; i < end; i++ {
		if err := w.workOn("job "+name, request{Verb: "succeed"}); err != nil {
			return err
		}
		if i > 0 || w.mrtZK() {
			w.note(w.lastSuccessIs(chain[i], ""))
		}
		if chain[i+1] == "completed" {
			w.note(w.batchEntryMoves("processing", "completed"))
		}
		w.note(w.itemIs("job", chain[i+1], "", ""), w.checkWhole())
	}
	return nil
}

func (w *world) workOn(name string, do request) error {
	w.names["job"] = w.names[name] // "its" in the next Thens means this job
	return w.act("worker", request{Verb: "acquire", What: "job", Item: name, From: w.stateOf(w.seen, w.names[name])}, do)
}

func (w *world) jobFailsThere(name, why string) error {
	if err := w.workOn("job "+name, request{Verb: "fail", Message: why}); err != nil {
		return err
	}
	w.note(w.itemIs("job", "failed", "", why), w.batchEntryMoves("processing", "failed"), w.checkWhole())
	return nil
}

func (w *world) note(wrong ...error) { w.onTheWay = append(w.onTheWay, wrong...) }

// allSucceedAtOnce starts the watchers first, so that they wait for the jobs.
func (w *world) allSucceedAtOnce() error {
	var watchers, workers []*actor
	for _, name := range []string{"A", "B", "C"} {
		a, err := w.actor("watcher " + name)
		if err != nil {
			return err
		}
		worker, err := w.known("worker of " + name)
		if err != nil {
			return err
		}
		watchers, workers = append(watchers, a), append(workers, worker)
	}
	return w.during("watcher A", func(ctx context.Context, _ *actor) error {
		var running sync.WaitGroup
		answers := make([]outcome, len(watchers)+len(workers))
		for i, a := range slices.Concat(watchers, workers) {
			r := request{Verb: "succeed"}
			if i < len(watchers) {
				r = request{Verb: "await-emptied", Item: w.names["batch"]}
			}
			running.Go(func() { answers[i].err = w.do(ctx, a, r, &answers[i]) })
		}
		running.Wait()
		var wrong []error
		for _, answer := range answers {
			w.last.fired, w.last.watched = w.last.fired+answer.fired, true
			wrong = append(wrong, answer.err)
		}
		return errors.Join(wrong...)
	})
}
