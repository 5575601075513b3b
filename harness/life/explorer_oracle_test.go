package life_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"mrtq/harness/daemons"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// After the disturbed command, an operator does what mrtq's status says, answers what it asks as somebody does who has
// found out what happened, and everybody works until nothing is left. At each moment no record may be able to run
// in both queues, and in the end each record's work must have been done once.

// truth is what the oracle knows. It shares no rule with the package.
type truth struct {
	paths []string          // of the first records
	bytes map[string][]byte // of them
	fates map[string]fate   // by whose work it is
	dead  map[string]bool   // records whose legacy worker died
	loose map[string]bool   // records that somebody let run in both queues

	names map[string]string // the last batch that had each name below /batch-uuids
	told  map[string]bool   // the works whose depositors heard of a failure before they were migrated

	submissions int
	damaged     bool // somebody has removed by hand what no service removes
	otherKept   kept // what another target keeps
}

// fate is how often the work of a record may be done in the end.
type fate struct{ least, most int }

func (t truth) clone() truth {
	t.fates, t.dead, t.loose = maps.Clone(t.fates), maps.Clone(t.dead), maps.Clone(t.loose)
	t.names, t.told = maps.Clone(t.names), maps.Clone(t.told)
	return t
}

// mayBeLost says that nobody needs to do the work of a record any more.
func (e *explored) mayBeLost(key string) {
	if f, ours := e.fates[key]; ours {
		e.fates[key] = fate{0, f.most}
	}
}

// mayRepeat says that the work of a record may be done once more, and in both queues.
func (e *explored) mayRepeat(path, key string) {
	if f := e.fates[key]; f.most > 0 {
		e.fates[key] = fate{f.least, f.most + 1}
	}
	e.loose[path] = true
}

// key is whose work a legacy record is; "" if it is not there.
func (e *explored) key(path string) string {
	data, _, err := e.conn.Get(path)
	if err != nil {
		return ""
	}
	return keyOf(znode.Name(path), data)
}

func keyOf(name string, data []byte) string {
	r, err := legacy.Decode(name, data, legacy.Options{})
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

type seenJob struct {
	path, key string // of its record
	state     string
	last      string // its last successful status
	hold      newqueue.QueueHold
	held      bool
}

func (e *explored) jobs() map[string]seenJob { return jobsBelow(e.tree(), "") }

func jobsBelow(tree *znode.Tree, chroot string) map[string]seenJob {
	all := map[string]seenJob{}
	for parent, hold := range map[string]newqueue.QueueHold{"/jobs": newqueue.HoldIngest, "/access/small": newqueue.HoldAccessSmall,
		"/access/large": newqueue.HoldAccessLarge} {
		for _, name := range tree.Children(chroot + parent) {
			var provenance struct{ Path string }
			job := znode.Join(chroot+parent, name)
			if json.Unmarshal(tree.Get(job).Data, &provenance) != nil || provenance.Path == "" {
				continue
			}
			j := seenJob{path: provenance.Path, hold: hold, held: tree.Get(chroot+newqueue.QueueHoldPath(hold)) != nil}
			field := func(name, field string) (text string) {
				if n := tree.Get(job + "/" + name); n != nil {
					if o, err := newqueue.ParseObject(n.Data); err == nil {
						text, _ = o.String(field)
					}
				}
				return text
			}
			j.state, j.last = strings.ToLower(field("status", "status")), strings.ToLower(field("status", "last_successful_status"))
			j.key = field("configuration", "jobID") + field("token", "token")
			if j.key == "" {
				j.key = field("inventory", "manifest_url")
			}
			all[job] = j
		}
	}
	return all
}

func (e *explored) oneQueue() {
	for job, j := range e.jobs() {
		data, _, err := e.conn.Get(j.path)
		if err != nil || len(data) == 0 || keyOf(znode.Name(j.path), data) != j.key || j.held || e.loose[j.path] || slices.Contains([]string{"completed", "deleted"}, j.state) {
			continue
		}
		if s := legacy.Status(data[0]); s != legacy.Completed && s != legacy.Deleted {
			e.failf("a record can run in both queues", "%s is %s, and %s is %s", j.path, s, job, j.state)
		}
	}
	e.oneTarget()
}

// words are what the operator adds to a command, because mrtq asked for it.
type words struct {
	answers  map[string]migration.Answer
	vanished migration.Answer
	stopped  int
	others   bool
}

type outcome struct {
	error
	undecided []migration.Note
	work      int // how much shows that legacy workers are at work
	panicked  any // what it failed with, beside others
}

// command runs a command of an operator, with small transactions: each has two or three records.
func (e *explored) command(ctx context.Context, o *operator, what string) (out outcome) {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	decisions := migrate.Decisions{RecordIs: e.words.answers, Vanished: e.words.vanished, Save: func([]znode.Node) error { return nil }}
	jobs, records := migration.TransactionLimits{Ops: 40}, migration.TransactionLimits{Ops: 12}
	if e.large {
		jobs, records = migration.TransactionLimits{}, migration.TransactionLimits{}
	}
	ingest := []newqueue.QueueHold{newqueue.HoldIngest}
	switch what {
	case "migrate":
		opt := migrate.MigrateOptions{Limits: jobs, PlanOptions: migration.PlanOptions{Dialect: e.dialect, Choices: e.choices, NewQueue: true}}
		src, err := e.legacyQueue(ctx, o.from, e.night.kinds...)
		if out.error = err; err == nil {
			_, out.error = migrate.Migrate(ctx, src, o.w, opt)
		}
	case "verify":
		var v *migration.Verdict
		if v, out.error = migrate.Verify(ctx, nil, &o.w.Reader, migrate.VerifyOptions{}); out.error == nil {
			e.sound(v)
		}
	case "release", "release ingest":
		opt := migrate.ReleaseOptions{Decisions: decisions, Limits: records, Others: e.words.others, WorkersStopped: e.words.stopped}
		if what == "release ingest" {
			opt.Queues = ingest
		}
		var res *migrate.ReleaseResult
		if res, out.error = migrate.Release(ctx, o.w, opt); res != nil {
			out.undecided, out.work = res.Undecided, len(res.AtWork)
		}
	case "rollback", "rollback --force":
		var undo *migrate.RollbackResult
		opt := migrate.RollbackOptions{Decisions: decisions, Limits: jobs, Force: what != "rollback"}
		if opt.Force {
			for _, j := range e.jobs() {
				e.mayRepeat(j.path, j.key)
			}
		}
		if undo, out.error = migrate.Rollback(ctx, o.w, opt); undo != nil {
			out.undecided = undo.Undecided
		}
	case "follow":
		_, out.error = migrate.Follow(ctx, o.w, migrate.FollowOptions{Once: true, Every: 100 * time.Millisecond, Quiet: 300 * time.Millisecond, Limits: records, MaxBuffer: 96 << 10})
	case "complete":
		_, out.error = migrate.Complete(ctx, o.w, migrate.CompleteOptions{Limits: records})
	case "hold", "hold all":
		opt := migrate.HoldOptions{Queues: ingest, By: "a person", Why: "to look"}
		if what == "hold all" {
			opt.Queues = newqueue.QueueHolds
		}
		_, out.error = migrate.Hold(ctx, o.w, opt)
	}
	return out
}

func (e *explored) sound(v *migration.Verdict) {
	for _, d := range v.Differences {
		e.say("    %.200v", d)
		if d.Kind.Group() == migration.DamageGroup && !e.damaged {
			e.failf("a sound queue differs", "%v", d)
		}
	}
}

// willing are choices that block nothing, and leave consumed records to their workers.
var willing = func() migration.Choices {
	c := migration.DefaultChoices()
	c.InventoryRecords, c.Unserviceable = "migrate", "migrate"
	c.Failed = "held" // in dialect design a failed job of which no step has succeeded can't be requeued
	return c
}()

func (e *explored) must(commands ...string) {
	for _, what := range commands {
		o := e.operator()
		if out := e.command(e.ctx, o, what); out.error != nil {
			e.failf("a command failed that nobody disturbed", "%s: %v", what, out.error)
		}
		o.close()
	}
}

func (e *explored) killed(what string, change int) {
	o := e.operator()
	cut := e.cut(o, change, false, true)
	out := e.command(e.ctx, o, what)
	if cut.fired() == 0 {
		e.failf("nothing was killed", "%s: %v", what, out.error)
	}
	cut.remove()
	o.close()
	time.Sleep(time.Minute)
}

// reasons are the errors that say what the operator can do.
var reasons = []error{migrate.ErrInterrupted, migrate.ErrSessionLost, migrate.ErrTakenOver, migrate.ErrContended, migrate.ErrRolledBack, migrate.ErrBlocked, migrate.ErrUndecided,
	migrate.ErrAtWork, migrate.ErrUnfinished, migrate.ErrNotVerified, migrate.ErrHoldsChanged, migrate.ErrOtherSource, migrate.ErrNoRun, migrate.ErrNoQueue, migrate.ErrNotReleased, migrate.ErrHeld,
	migrate.ErrCompleted, migrate.ErrRestored, migrate.ErrLeft, migrate.ErrFollowed, znode.ErrNoNode}

func known(err error) bool {
	return slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) })
}

func (e *explored) run(what string) error {
	o := e.operator()
	defer o.close()
	e.say("operator: %s %+v", what, e.words)
	waits := e.words.stopped == 0 && e.heldByRun() && slices.ContainsFunc(e.records(), func(path string) bool {
		data, _, _ := e.conn.Get(path)
		return strings.HasPrefix(path, "/ingest/") && legacy.Status(data[0]) == legacy.Consumed
	})
	e.noteNames(false)
	out := e.command(e.ctx, o, what)
	e.noteNames(what == "follow")
	if waits && what == "release" && !e.heldByRun() {
		e.failf("lifted", "while a legacy worker is at work")
	}
	if what == "rollback" && out.error == nil && e.allRolledBack() {
		for job, j := range e.jobs() {
			if over := slices.Contains([]string{"completed", "deleted", "failed"}, j.state); !over && !j.held {
				e.failf("not held", "%s is %s after the rollback", job, j.state)
			}
		}
	}
	e.oneQueue()
	e.learn(what, out)
	return out.error
}

// allRolledBack reports whether all runs were rolled back, so that the legacy workers have the records.
func (e *explored) allRolledBack() bool {
	s, err := migrate.ReadStatus(e.ctx, &e.source.Reader)
	must(err)
	return !slices.ContainsFunc(s.Runs, func(r migrate.RunStatus) bool { return r.State != migration.RunRolledBack })
}

// heldByRun reports whether a run holds the ingest queue: mrtq promises nothing for a hold that somebody has replaced.
func (e *explored) heldByRun() bool {
	data, _, err := e.conn.Get(newqueue.QueueHoldPath(newqueue.HoldIngest))
	return err == nil && strings.Contains(string(data), "run0")
}

func (e *explored) learn(what string, out outcome) {
	e.words = words{} // they were said
	if out.error == nil {
		return
	}
	e.say("    %.300v", out.error)
	if !known(out.error) {
		e.failf("a command failed without a reason", "%s: %v", what, out.error)
	}
	if errors.Is(out.error, migrate.ErrTakenOver) && !e.deposed {
		e.failf("taken over", "%s, although it waited for its turn", what)
	}
	for _, u := range out.undecided {
		e.answer(u)
	}
	switch {
	case errors.Is(out.error, migrate.ErrBlocked) && strings.Contains(out.error.Error(), string(migration.ProblemOtherOrigin)):
		e.cleared = true
	case errors.Is(out.error, migrate.ErrBlocked) && strings.Contains(out.error.Error(), newqueue.QueueLocksPath):
		e.run("hold all")
	case errors.Is(out.error, migrate.ErrBlocked):
		e.choices.Unserviceable = willing.Unserviceable
		for e.newWorkers() { // the batch of a late record may be finished
		}
		must(e.world.Clean())
	case errors.Is(out.error, migrate.ErrAtWork) && what == "rollback":
		e.stopWorkers()
	case errors.Is(out.error, migrate.ErrAtWork), slices.ContainsFunc(out.undecided, func(u migration.Note) bool { return u.Why != "" }):
		e.legacyDry()
		if len(e.dead) > 0 {
			e.words.stopped = cmp.Or(out.work, len(e.records()))
		}
		if what == "rollback" { // there the operator can't say that nobody has it
			for path := range e.dead {
				e.status(path, legacy.Consumed, legacy.Failed)
			}
		}
	case errors.Is(out.error, migrate.ErrOtherSource):
		if e.others++; e.others > 1 { // it is also about records whose jobs are gone; nobody may work while the operator decides
			e.busy = false
			e.legacyDry()
			e.words.vanished = migration.AnswerNew
		}
		e.makeQueues()
		for job, j := range e.jobs() {
			if e.key(j.path) != j.key {
				e.answer(migration.Note{Record: j.path, Job: job, Question: migration.QuestionVanished})
			}
		}
	}
}

func (e *explored) answer(u migration.Note) {
	j, hasJob := e.jobs()[u.Job]
	key := e.key(u.Record)
	if hasJob {
		key = j.key
	}
	times := e.world.Executions()[key].Times()
	a := migration.AnswerNew
	switch {
	case u.Question == migration.QuestionTaken:
		a = migration.AnswerLegacy
	case u.Question == migration.QuestionVanished && (times > 0 || e.elsewhere(u.Record, key)):
		a = migration.AnswerLegacy
	case (u.Question == migration.QuestionBoth || u.Question == migration.QuestionJobGone || u.Question == migration.QuestionAgain && !hasJob) && key != "" && e.key(u.Record) == key && times == 0:
		a = migration.AnswerLegacy
	}
	if u.Why != "" {
		e.legacyDry()
		e.stopWorkers()
	}
	e.say("    %s (%s, done %d times)? %s: the %s queue %s", u.Record, key, times, u.Question, a, u.Why)
	if e.words.answers == nil {
		e.words.answers = map[string]migration.Answer{}
	}
	e.words.answers[u.Record] = a
}

// elsewhere reports whether another record has the same work, in the legacy queue or as a job: somebody renamed the record, or
// requeued it.
func (e *explored) elsewhere(record, key string) bool {
	for _, j := range e.jobs() {
		if j.path != record && j.key == key {
			return true
		}
	}
	return e.otherHas(key) || slices.ContainsFunc(e.records(), func(path string) bool { return e.key(path) == key })
}

// most is how many steps an operator takes at most who does what mrtq says.
const most = 10

// newWorkers lets the new queue's workers take a turn, but not the one that ignores holds. It reports whether anybody found work.
func (e *explored) newWorkers() (worked bool) {
	for _, a := range e.world.Workers() {
		if a.Name != "Inventory" {
			worked = value(a.Step()) || worked
		}
	}
	return worked
}

func (e *explored) obey() {
	for range most + 1 {
		if e.busy { // nobody waits for the operator
			e.newWorkers()
			turn(e.world.LegacyWorkers())
			e.oneQueue()
		}
		s, err := migrate.ReadStatus(e.ctx, &e.source.Reader)
		if err != nil {
			e.failf("status failed", "%v", err)
		}
		e.say("status: %s", s.Step)
		switch back := e.night.back && slices.ContainsFunc(s.Runs, func(r migrate.RunStatus) bool { return r.State != migration.RunRolledBack }); {
		case s.Step == migrate.StepWait:
			time.Sleep(time.Minute)
		case s.Step == migrate.StepFinish && e.cleared:
			e.run("rollback")
		case back && !slices.ContainsFunc(s.Runs, func(r migrate.RunStatus) bool { return r.State != migration.RunRolledBack && !r.Completed.IsZero() }):
			e.run("rollback")
		case s.Step == migrate.StepFinish, s.Step == migrate.StepNoQueue, s.Step == migrate.StepLegacyQueue, s.Step == migrate.StepPlan && !e.night.back:
			if before := e.tree(); e.run("migrate") == nil && len(differ(before, e.tree())) == 0 {
				return // there is nothing to migrate
			}
		case s.Step == migrate.StepFollow && !e.night.back:
			if before := e.tree(); e.run("follow") == nil && len(differ(before, e.tree())) == 0 {
				return // what is left waits or stays
			}
		case s.Step == migrate.StepFinishRollback:
			e.run("rollback")
		case s.Step == migrate.StepComplete:
			e.run("complete")
		case s.Step == migrate.StepDecideRecords, s.Step == migrate.StepRelease, s.Step == migrate.StepReleaseOthers:
			for _, u := range s.Undecided() {
				e.answer(u)
			}
			e.words.others = s.Step == migrate.StepReleaseOthers
			e.run("release")
		case s.Step == "" || s.Step == migrate.StepPlan || s.Step == migrate.StepFollow:
			if e.repeated || e.night.back || s.Step != "" {
				return
			}
			e.repeated = true // an interrupted command is repeated
			e.run(e.night.command)
		default:
			e.failf("an advice that leads nowhere", "%s", s.Step)
		}
	}
	if !e.life { // after a single act it does
		e.failf("the advice never ends", "after %d steps", most)
	}
}

func (e *explored) verified() {
	s, err := migrate.ReadStatus(e.ctx, &e.source.Reader)
	must(err)
	v, err := migrate.Verify(e.ctx, nil, &e.source.Reader, migrate.VerifyOptions{})
	if err != nil {
		e.failf("verify failed", "%v", err)
	}
	if step := migrate.VerdictStep(v); step != s.Step && !e.life {
		e.failf("verify and status advise different things", "%q and %q: %v", step, s.Step, v.Differences)
	}
}

const rounds = 4

// end lets the operator obey and everybody work until nothing is left, and then counts. It stops early in a world that was
// lived to the end before.
func (e *explored) end(r *recording) {
	e.oneQueue()
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
		e.otherEnds()
		e.legacyDry()
		e.finishTurn()
		must(e.world.Run())
		e.resume()
		e.oneQueue()
		if e.life { // whoever wants back goes on at last, so that the holds on what was begun are lifted
			must(e.world.Clean())
			e.night.back = e.night.back && round < 2
		}
		if round == rounds || len(differ(before, e.tree())) == 0 && !e.life { // some jobs fail whenever they are resumed
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
	for _, path := range e.unserviceable {
		e.lose(path)
	}
	for _, path := range e.records() {
		e.status(path, legacy.Held, legacy.Pending)
		e.status(path, legacy.Failed, legacy.Pending)
	}
}

var resumes = map[string]daemons.Action{"held": daemons.ReleaseJob, "failed": daemons.RequeueJob}

func (e *explored) count() {
	executions := e.world.Executions()
	for _, key := range slices.Sorted(maps.Keys(executions)) {
		// A worker has submitted it, who stored the record with this id.
		id := key[strings.LastIndex(key, "%2F")+1:]
		if _, ours := e.fates[key]; !ours && executions[key].Times() > max(1, e.fates["jid-"+strings.TrimPrefix(id, "2F")].most) {
			e.failf("done twice", "%s: %+v", key, executions[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(e.fates)) {
		f, n := e.fates[key], executions[key].Times()
		if n < f.least {
			e.failf("never done", "%s: %+v, of %+v", key, executions[key], e.jobs())
		}
		if n > f.most {
			e.failf("done twice", "%s: %d times, %+v", key, n, executions[key])
		}
	}
	e.onlyOwnFolders()
	if data, _, err := e.conn.Get("/foreign"); err != nil || string(data) != "of somebody else" {
		e.failf("something foreign is gone", "%v", err)
	}
}
