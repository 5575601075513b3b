package life_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mrtq/harness/daemons"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// truth is what the oracle knows. It shares no rule with the package.
type truth struct {
	paths []string          // of the first records
	bytes map[string][]byte // of them
	fates map[string]fate   // by whose work it is
	dead  map[string]bool   // records whose legacy worker died
	loose map[string]bool   // records that somebody let run in both queues
}

// fate is how often the work of a record may be done in the end.
type fate struct{ least, most int }

func (t truth) clone() truth {
	return truth{t.paths, t.bytes, maps.Clone(t.fates), maps.Clone(t.dead), maps.Clone(t.loose)}
}

// allow says how often the work of a record may be done.
func (e *explored) allow(path string, least, most int) {
	if key := e.key(path); key != "" && e.fates[key].most > 0 {
		e.fates[key] = fate{least, most}
	}
	e.loose[path] = e.loose[path] || most > 1
}

// key is whose work a legacy record is; "" if it is not there.
func (e *explored) key(path string) string {
	data, _, err := e.conn.Get(path)
	if err != nil {
		return ""
	}
	r, err := legacy.Decode(znode.Name(path), data, legacy.Options{})
	if err != nil {
		return ""
	}
	for _, id := range []string{"jobID", "manifestURL", "token"} {
		if text, _ := r.Payload.Text(id); text != "" {
			return text
		}
	}
	return ""
}

// seenJob is a job or request with a record.
type seenJob struct {
	path, key string // of its record
	state     string
	hold      newqueue.QueueHold
	held      bool
}

// jobs are all jobs and requests that have a record.
func (e *explored) jobs() map[string]seenJob {
	tree, all := e.tree(), map[string]seenJob{}
	for parent, hold := range map[string]newqueue.QueueHold{"/jobs": newqueue.HoldIngest, "/access/small": newqueue.HoldAccessSmall,
		"/access/large": newqueue.HoldAccessLarge} {
		for _, name := range tree.Children(parent) {
			var provenance struct{ Path string }
			job := znode.Join(parent, name)
			if json.Unmarshal(tree.Get(job).Data, &provenance) != nil || provenance.Path == "" {
				continue
			}
			j := seenJob{path: provenance.Path, hold: hold, held: tree.Get(newqueue.QueueHoldPath(hold)) != nil}
			field := func(name, field string) (text string) {
				if n := tree.Get(job + "/" + name); n != nil {
					if o, err := newqueue.ParseObject(n.Data); err == nil {
						text, _ = o.String(field)
					}
				}
				return text
			}
			j.state = strings.ToLower(field("status", "status"))
			j.key = field("configuration", "jobID") + field("token", "token")
			if j.key == "" {
				j.key = field("inventory", "manifest_url")
			}
			all[job] = j
		}
	}
	return all
}

func (e *explored) keyOf(job string) string { return e.jobs()[job].key }

// oneQueue fails if the work of a record can run in both queues.
func (e *explored) oneQueue() {
	for job, j := range e.jobs() {
		data, _, err := e.conn.Get(j.path)
		if err != nil || len(data) == 0 || j.held || e.loose[j.path] || slices.Contains([]string{"completed", "deleted"}, j.state) {
			continue
		}
		if s := legacy.Status(data[0]); s != legacy.Completed && s != legacy.Deleted {
			e.failf("a record can run in both queues", "%s is %s, and %s is %s", j.path, s, job, j.state)
		}
	}
}

// words are what the operator adds to a command, because mrtq asked for it.
type words struct {
	answers map[string]migrate.Answer
	stopped int
	others  bool
}

func newWords() words { return words{answers: map[string]migrate.Answer{}} }

// command runs a command of an operator.
func (e *explored) command(o *operator, what string) error {
	ctx, cancel := context.WithTimeout(e.ctx, time.Hour)
	defer cancel()
	what, only, _ := strings.Cut(what, " ")
	decisions := migrate.Decisions{RecordIs: e.words.answers, Save: func([]znode.Node) error { return nil }}
	limits := migrate.Limits{Ops: map[string]int{"migrate": 40, "rollback": 40}[what]} // two or three records in a transaction
	if limits.Ops == 0 {
		limits.Ops = 12
	}
	switch what {
	case "migrate":
		src, err := e.legacyQueue(ctx, o.from)
		if err != nil {
			return err
		}
		_, err = migrate.Migrate(ctx, src, o.w, migrate.MigrateOptions{Limits: limits,
			Options: migrate.Options{Dialect: e.dialect, Choices: willing, NewQueue: true, HoldAgain: true}})
		return err
	case "release":
		opt := migrate.ReleaseOptions{Decisions: decisions, Limits: limits, Others: e.words.others, WorkersStopped: e.words.stopped}
		switch only {
		case "ingest":
			opt.Queues = []newqueue.QueueHold{newqueue.HoldIngest}
		case "access":
			opt.Queues = []newqueue.QueueHold{newqueue.HoldAccessSmall, newqueue.HoldAccessLarge}
		}
		res, err := migrate.Release(ctx, o.w, opt)
		return e.asked(res != nil, err, func() ([]migrate.UndecidedRecord, int) { return res.Undecided, len(res.AtWork) })
	case "rollback":
		undo, err := migrate.Rollback(ctx, o.w, "", migrate.RollbackOptions{Decisions: decisions, Limits: limits})
		return e.asked(undo != nil, err, func() ([]migrate.UndecidedRecord, int) { return undo.Undecided, len(undo.AtWork) })
	case "complete":
		_, err := migrate.Complete(ctx, o.w, migrate.CompleteOptions{Limits: limits})
		return err
	case "hold":
		_, err := migrate.Hold(ctx, o.w, migrate.HoldOptions{Queues: []newqueue.QueueHold{newqueue.HoldIngest}, By: "a person", Why: "to look"})
		return err
	}
	panic("no command " + what)
}

// willing are choices that block nothing, and leave consumed records to their workers.
var willing = func() migrate.Choices {
	c := migrate.DefaultChoices()
	c.InventoryRecords, c.Unserviceable = "migrate", "migrate"
	c.Failed = "held" // in dialect design a failed job of which no step has succeeded can't be requeued
	return c
}()

// ask is an error with what the operator is asked.
type ask struct {
	error
	undecided []migrate.UndecidedRecord
	work      int
}

func (a *ask) Unwrap() error { return a.error }

func (e *explored) asked(is bool, err error, what func() ([]migrate.UndecidedRecord, int)) error {
	if !is || err == nil {
		return err
	}
	a := &ask{error: err}
	a.undecided, a.work = what()
	return a
}

// must carries out commands that nobody disturbs.
func (e *explored) must(commands ...string) {
	for _, what := range commands {
		o := e.operator()
		if err := e.command(o, what); err != nil {
			e.failf("a command failed that nobody disturbed", "%s: %v", what, err)
		}
		o.close()
	}
}

// killed runs a command whose process is killed before one of its changes.
func (e *explored) killed(what string, change int) {
	o := e.operator()
	cut := e.cut(o, change, false, true)
	err := e.command(o, what)
	if cut.fired() == 0 {
		e.failf("nothing was killed", "%s: %v", what, err)
	}
	cut.remove()
	o.close()
	time.Sleep(time.Minute)
}

// reasons are the errors that say what the operator can do.
var reasons = []error{migrate.ErrInterrupted, migrate.ErrLost, migrate.ErrTakenOver, migrate.ErrContended, migrate.ErrFinished, migrate.ErrRolledBack, migrate.ErrBlocked, migrate.ErrUndecided,
	migrate.ErrAtWork, migrate.ErrUnfinished, migrate.ErrNotVerified, migrate.ErrHoldsChanged, migrate.ErrOtherSource, migrate.ErrNoRun, migrate.ErrNoQueue, migrate.ErrNotReleased,
	migrate.ErrCompleted, migrate.ErrNotNewest, znode.ErrNoNode}

func known(err error) bool {
	return slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) })
}

// run is a command of the operator, who learns from what it says.
func (e *explored) run(what string) {
	o := e.operator()
	defer o.close()
	e.say("operator: %s %+v", what, e.words)
	err := e.command(o, what)
	e.oneQueue()
	e.learn(what, err)
}

// learn lets the operator do what a command's error says.
func (e *explored) learn(what string, err error) {
	e.words = newWords() // they were said
	if err == nil {
		return
	}
	e.say("    %.300v", err)
	if !known(err) {
		e.failf("a command failed without a reason", "%s: %v", what, err)
	}
	var a *ask
	if errors.As(err, &a) {
		for _, u := range a.undecided {
			e.answer(u)
		}
	}
	switch {
	case errors.Is(err, migrate.ErrAtWork) && what == "rollback":
		e.letNewFinish()
	case errors.Is(err, migrate.ErrAtWork):
		e.legacyDry()
		if len(e.dead) > 0 {
			e.words.stopped = a.work
		}
	case errors.Is(err, migrate.ErrOtherSource):
		for _, root := range migrate.DefaultQueues().Roots() {
			if there, _, _ := e.conn.Exists(root); !there {
				e.create(root, nil, 0)
			}
		}
		for _, j := range e.jobs() {
			if e.key(j.path) == "" {
				e.answer(migrate.UndecidedRecord{Record: j.path, Question: migrate.LastCopy})
			}
		}
	}
}

// letNewFinish ends the sessions of the new queue's workers who are in the middle of something.
func (e *explored) letNewFinish() {
	for _, a := range e.world.Workers() {
		a.Kill()
		a.Expire()
	}
	e.turn = nil
}

// answer decides about a record as somebody does who has found out what happened.
func (e *explored) answer(u migrate.UndecidedRecord) {
	key := e.key(u.Record)
	for _, j := range e.jobs() {
		if j.path == u.Record {
			key = j.key
		}
	}
	times := e.world.Executions()[key].Times()
	a := migrate.IsNew
	switch {
	case u.Question == migrate.LastCopy && (times > 0 || e.elsewhere(key)):
		a = migrate.IsLegacy
	case u.Question == migrate.Both && e.key(u.Record) != "" && times == 0:
		a = migrate.IsLegacy
	}
	if u.Why != "" {
		e.legacyDry()
		e.letNewFinish()
	}
	e.say("    %s (%s, done %d times)? %s: the %s queue %s", u.Record, key, times, u.Question, a, u.Why)
	e.words.answers = maps.Clone(e.words.answers)
	e.words.answers[u.Record] = a
}

// elsewhere reports whether the legacy queue has the same work in another record.
func (e *explored) elsewhere(key string) bool {
	for _, root := range migrate.DefaultQueues().Roots() {
		names, _, _ := e.conn.Children(root)
		for _, name := range names {
			if e.key(znode.Join(root, name)) == key {
				return true
			}
		}
	}
	return false
}

// most is how many steps an operator takes at most who does what mrtq says.
const most = 10

// obey does what mrtq says, until nothing is left to do.
func (e *explored) obey() {
	for range most + 1 {
		s, err := migrate.ReadStatus(e.ctx, &e.source.Reader)
		if err != nil {
			e.failf("status failed", "%v", err)
		}
		e.say("status: %s", s.Step)
		switch back := e.night.back && slices.ContainsFunc(s.Runs, func(r migrate.RunStatus) bool { return r.State != migrate.RolledBack }); {
		case s.Step == migrate.StepWait:
			time.Sleep(time.Minute)
		case back && !e.completed(s):
			e.run("rollback")
		case s.Step == migrate.StepFinish, s.Step == migrate.StepMigrateRest, s.Step == migrate.StepNoQueue, s.Step == migrate.StepLegacyQueue, s.Step == migrate.StepPlan && !e.night.back:
			e.run("migrate")
		case s.Step == migrate.StepFinishRollback:
			e.run("rollback")
		case s.Step == migrate.StepDecideRecords:
			for _, u := range s.Undecided() {
				e.answer(u)
			}
			e.run("release")
		case s.Step == migrate.StepRelease:
			e.run("release")
		case s.Step == migrate.StepReleaseOthers:
			e.words.others = true
			e.run("release")
		case s.Step == "" || s.Step == migrate.StepPlan:
			if e.repeated || e.night.back || s.Step != "" {
				return
			}
			e.repeated = true // an interrupted command is repeated
			e.run(e.night.command)
		default:
			e.failf("an advice that leads nowhere", "%s", s.Step)
		}
		if e.busy {
			e.legacyTurns()
		}
		e.oneQueue()
	}
	e.failf("the advice never ends", "after %d steps", most)
}

// completed reports whether there is no way back.
func (e *explored) completed(s *migrate.Status) bool {
	return slices.ContainsFunc(s.Runs, func(r migrate.RunStatus) bool { return r.State != migrate.RolledBack && !r.Completed.IsZero() })
}

// verified fails if verify wants something else than status.
func (e *explored) verified() {
	s, err := migrate.ReadStatus(e.ctx, &e.source.Reader)
	must(err)
	v, err := migrate.Verify(e.ctx, nil, &e.source.Reader, migrate.VerifyOptions{})
	if err != nil {
		e.failf("verify failed", "%v", err)
	}
	if step := migrate.VerdictStep(v); step != s.Step {
		e.failf("verify and status advise different things", "%q and %q: %v", step, s.Step, v.Differences)
	}
}

// rounds is how often everybody works on what is left.
const rounds = 4

// end lets the operator obey and everybody work until nothing is left, and then counts. It stops early in a world that was
// lived to the end before.
func (e *explored) end(r *recording) {
	lived := [][32]byte{e.fingerprint()}
	if r.ended[lived[0]] {
		return
	}
	for round := 1; ; round++ {
		e.obey()
		lived = append(lived, e.fingerprint())
		if r.ended[lived[len(lived)-1]] {
			break
		}
		before := e.tree()
		e.legacyDry()
		e.newDry()
		e.resume()
		e.oneQueue()
		if round == rounds || len(differ(before, e.tree())) == 0 { // some jobs fail whenever they are resumed
			e.verified()
			e.count()
			break
		}
	}
	for _, known := range lived {
		r.ended[known] = true
	}
}

// resume lets people lift their own holds, and administrators resume what is held or failed, in both queues.
func (e *explored) resume() {
	for _, q := range newqueue.QueueHolds {
		if data, _, err := e.conn.Get(newqueue.QueueHoldPath(q)); err == nil && !strings.Contains(string(data), "run0") {
			_ = e.conn.Delete(newqueue.QueueHoldPath(q), -1)
		}
	}
	for job, j := range e.jobs() {
		if action := resumes[j.state]; action != "" && strings.HasPrefix(job, "/jobs/") {
			_ = e.world.Do(action, znode.Name(job))
		} else if j.state == "failed" {
			_ = e.world.Do(daemons.RequeueRequest, job)
		}
	}
	for _, root := range migrate.DefaultQueues().Roots() {
		names, _, _ := e.conn.Children(root)
		for _, name := range names {
			for _, from := range []legacy.Status{legacy.Held, legacy.Failed} {
				e.status(znode.Join(root, name), from, legacy.Pending)
			}
		}
	}
}

var resumes = map[string]daemons.Action{"held": daemons.ReleaseJob, "failed": daemons.RequeueJob}

// count fails if the work of a record was not done as often as it should, or if something foreign is gone.
func (e *explored) count() {
	executions := e.world.Executions()
	for _, key := range slices.Sorted(maps.Keys(executions)) {
		if _, ours := e.fates[key]; !ours && executions[key].Times() > 1 {
			e.failf("done twice", "%s: %+v", key, executions[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(e.fates)) {
		f, n := e.fates[key], executions[key].Times()
		if n < f.least {
			e.failf("never done", "%s: %s", key, e.where(key))
		}
		if n > f.most {
			e.failf("done twice", "%s: %d times, %+v", key, n, executions[key])
		}
	}
	if data, _, err := e.conn.Get("/foreign"); err != nil || string(data) != "of somebody else" {
		e.failf("something foreign is gone", "%v", err)
	}
}

// where says where the work of a record is.
func (e *explored) where(key string) string {
	var all []string
	for job, j := range e.jobs() {
		if j.key == key {
			all = append(all, fmt.Sprintf("%s is %s", job, j.state))
		}
	}
	for n := range e.tree().All("/") {
		if strings.Contains(string(n.Data), key) && !strings.HasPrefix(n.Path, "/migration") {
			all = append(all, n.Path)
		}
	}
	return strings.Join(all, ", ")
}
