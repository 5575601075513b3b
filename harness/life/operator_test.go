package life_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// migration is what the operators know and do.
type migration struct {
	*others
	choices migrate.Choices
	file    []migrate.Decision // what the operators have decided record by record
	decided map[string]int     // how often they made each choice there
	story   []string
	cuts    int // how many changes of an operator were cut
	backup  *backup
	// from is the session with the legacy queue of each operator, by the other session.
	from map[*migrate.Writer]*migrate.Writer
	// quarantined are the bytes of records that nobody can read, by path.
	quarantined map[string][][]byte
	// restored says that a backup was restored, so that commands may ask for the word. The
	// jobs were restored, too, if it was not only /migration: nothing shows any more which
	// of them were worked on.
	restored, jobsToo bool
}

// trouble is what happens while a command runs.
type trouble struct {
	kind string
	nth  int // at which change of the operator's session, or at which report of the phase
	// What others do then.
	phase migrate.Phase
	acts  []act
}

// troubles are the kinds. The first is none.
var troubles = []string{"", "killed before a change", "killed after a change", "connection lost before a change", "connection lost after a change",
	"cancelled", "session expires", "others act"}

func (t trouble) String() string {
	switch t.kind {
	case "":
		return ""
	case "cancelled", "session expires", "others act":
		return fmt.Sprintf(" (%s while %s, report %d)", t.kind, t.phase, t.nth)
	}
	return fmt.Sprintf(" (%s, number %d)", t.kind, t.nth)
}

// run runs a command of an operator. It returns its error, and whether the operator saw the
// result. The error must be one of those that the command has a reason for.
func (m *migration) run(what string, t trouble, command func(ctx context.Context, w *migrate.Writer) error, reasons ...error) (saw bool, err error) {
	o := m.operator()
	defer o.close()
	m.say("operator: %s%s", what, t)
	ctx, cancel := context.WithTimeout(m.ctx, time.Hour)
	defer cancel()
	var broken any
	if i := slices.Index(troubles, t.kind); i >= 1 && i <= 4 {
		fault := m.cut(o, t.nth, i%2 == 0, i <= 2)
		defer func() { m.cuts += fault.fired(); fault.remove() }()
	} else if i > 4 {
		reports := 0
		ctx = migrate.WithPhases(ctx, func(p migrate.Phase, _, _ int) {
			if p != t.phase {
				return
			}
			if reports++; reports == t.nth {
				defer func() { broken = recover() }() // it may be a goroutine of the command
				m.meanwhile(o, t, cancel)
			}
		})
	}
	m.from[o.w] = o.from
	err = command(ctx, o.w)
	if broken != nil {
		panic(broken)
	}
	if err != nil {
		m.say("    %.300v", err)
	}
	if o.dead() {
		return false, err
	}
	if t.kind == "" || errors.Is(err, context.DeadlineExceeded) {
		t.kind = "" // nothing excuses the error
	} else if errors.Is(err, migrate.ErrInterrupted) || errors.Is(err, migrate.ErrLost) || errors.Is(err, context.Canceled) {
		return true, err
	}
	if t.kind == "others act" {
		reasons = append(reasons, migrate.ErrFinished, migrate.ErrRolledBack, migrate.ErrTakenOver, migrate.ErrHoldsChanged, migrate.ErrUnfinished, migrate.ErrNoRun, migrate.ErrNoQueue,
			migrate.ErrRetiring, migrate.ErrNotReleased)
	}
	if err != nil && !slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) }) {
		m.failf("a command failed without a reason", "%s: %v", what, err)
	}
	return true, err
}

// meanwhile is what happens in the middle of a command. If the process leads, another
// operator can go on only when its session has ended.
func (m *migration) meanwhile(o *operator, t trouble, cancel func()) {
	switch t.kind {
	case "cancelled":
		cancel()
	case "session expires":
		m.newZK.ExpireSession(o.session)
	case "others act":
		for _, a := range t.acts {
			if a.everywhere && m.leads(o) {
				m.say("  the session of the operator's process ends; it was stopped")
				m.newZK.ExpireSession(o.session)
			}
			if a.everywhere {
				m.operators(a)
			} else {
				m.do(a)
			}
		}
		m.check()
	}
}

// operators are what a second operator does while the first one's command runs.
func (m *migration) operators(a act) {
	m.say("  a second operator:")
	switch a.who % 5 {
	case 0:
		m.migrate(trouble{}, a)
	case 1:
		m.rollback(trouble{}, a)
	case 2:
		m.release(trouble{}, a)
	case 3:
		m.verify(trouble{})
	case 4:
		m.retire(trouble{}, a)
	}
}

// freeze stops the legacy workers. Some are killed, or forgotten.
func (m *migration) freeze(a act) {
	if m.frozen {
		return
	}
	m.frozen = true
	for _, actor := range m.world.LegacyWorkers() {
		if m.turns[actor] == nil {
			continue
		}
		switch a.b % 3 {
		case 0:
			m.say("%s finishes and stops", actor.Name)
			m.turn(actor, 0)
		case 1:
			m.say("%s is killed", actor.Name)
			m.disturb(actor)
			actor.Kill()
			delete(m.turns, actor)
		default:
			m.say("%s is forgotten", actor.Name)
			m.left = actor
		}
	}
	if a.b%8 == 7 {
		m.left = pick(m.world.LegacyWorkers(), a.who)
		m.say("%s is forgotten", m.left.Name)
	}
}

// limits are small transactions, or the usual ones.
func limits(a act) migrate.Limits {
	return pick([]migrate.Limits{{Bytes: 1}, {Bytes: 4096}, {}}, a.b)
}

// refusals are the reasons for which each command may refuse.
var refusals = []error{migrate.ErrRestored, migrate.ErrBlocked}

func (m *migration) migrate(t trouble, a act) error {
	m.freeze(a)
	opt := migrate.MigrateOptions{Options: m.options(), SaveQuarantined: m.keep, Limits: limits(a), Say: func(s string) { m.say("    %s", s) }}
	opt.HoldAgain, opt.Restored = a.a%4 != 0, m.restored && a.a%8 != 1
	what := "migrate"
	if a.a%16 == 15 {
		opt.Again, what = []string{"all"}, "migrate --again all"
	}
	opt.Decisions = m.decisions(opt.Options, a)
	var res *migrate.Result
	_, err := m.run(what, t, func(ctx context.Context, w *migrate.Writer) (err error) {
		res, err = migrate.Migrate(ctx, m.legacyQueue(), w, opt)
		return err
	}, refusals...)
	if res.Plan != nil {
		m.checkDecided(res.Plan, opt.Decisions)
		m.toldByPlan(res.Plan, err == nil)
		if opt.Again != nil {
			m.toldByAgain(res.Plan)
		}
	}
	return err
}

func (m *migration) options() migrate.Options {
	return migrate.Options{Dialect: m.dialect, Choices: m.choices, NewQueue: true}
}

func (m *migration) keep(records []migrate.Record) error {
	for _, r := range records {
		m.quarantined[r.Path] = append(m.quarantined[r.Path], r.Data)
	}
	return nil
}

// toldByAgain notes that the operator wants records to run again whose jobs are not there.
func (m *migration) toldByAgain(p *migrate.Plan) {
	jobs := m.jobs()
	for _, e := range p.Records {
		if r := m.at(e.Path); len(jobs[e.Path]) == 0 || m.times(r) > 0 || r.over {
			m.told(e.Path, true, false, word{"--again", true})
		}
	}
}

func (m *migration) verify(t trouble) *migrate.Verdict {
	var v *migrate.Verdict
	_, err := m.run("verify", t, func(ctx context.Context, w *migrate.Writer) (err error) {
		v, err = migrate.Verify(ctx, m.legacyQueue(), &w.Reader, migrate.VerifyOptions{AllACLs: true, Quarantined: m.quarantined})
		return err
	})
	if err != nil {
		return nil
	}
	for _, d := range v.Differences {
		m.say("    %.200v", d)
	}
	m.toldByVerdict(v)
	return v
}

func (m *migration) release(t trouble, a act) error {
	opt := migrate.ReleaseOptions{VerifyOptions: migrate.VerifyOptions{Quarantined: m.quarantined}, Others: a.a%2 == 0, Restored: m.restored && a.a%8 != 1}
	what := "release"
	if a.a%4 == 3 {
		opt.Queues = []newqueue.QueueHold{pick(newqueue.QueueHolds, a.who)}
		what += fmt.Sprintf(" --only %s", opt.Queues)
	}
	switch a.b % 4 {
	case 2:
		opt.ActedOn = 1000
		what += " --acted-on 1000"
	case 3:
		// Whoever releases without verifying could have known what verify says.
		if v := m.verify(trouble{}); v == nil {
			return nil
		}
		opt.Unverified = true
		what += " --unverified"
	}
	var res *migrate.Released
	_, err := m.run(what, t, func(ctx context.Context, w *migrate.Writer) (err error) {
		res, err = migrate.Release(ctx, m.legacyQueue(), w, opt)
		return err
	}, migrate.ErrUnfinished, migrate.ErrNotVerified, migrate.ErrActedOn, migrate.ErrNotRetired, migrate.ErrRestored, migrate.ErrNoQueue)
	if res != nil && res.Verdict != nil {
		m.toldByVerdict(res.Verdict)
	}
	return err
}

func (m *migration) rollback(t trouble, a act) error {
	opt := migrate.RollbackOptions{Source: m.legacyQueue(), Restored: m.restored && a.a%8 != 1, Limits: limits(a),
		Say: func(s string) { m.say("    %s", s) }, Kept: m.noteKept}
	what := "rollback"
	if a.a%8 == 7 {
		opt.Force = true
		what += " --force"
		m.toldByForce(opt)
	}
	if opt.Restored && m.jobsToo {
		for path := range m.jobs() {
			m.told(path, true, true, word{"--restored", true})
		}
	}
	_, err := m.run(what, t, func(ctx context.Context, w *migrate.Writer) error {
		_, err := migrate.Rollback(ctx, w, "", opt)
		return err
	}, migrate.ErrRestored, migrate.ErrNoRun, migrate.ErrNotNewest, migrate.ErrNoQueue, migrate.ErrRetiring)
	m.forget()
	return err
}

// noteKept is the file that the command writes.
func (m *migration) noteKept(u *migrate.Undo) error {
	for _, item := range u.Keeps {
		m.say("    keeps %s (%s): %s", item.Record, item.Job, item.Why)
	}
	return nil
}

// retire removes the migrated records from the legacy queue. What is removed must have been kept
// before.
func (m *migration) retire(t trouble, a act) error {
	opt := migrate.RetireOptions{Restored: m.restored && a.a%8 != 1, Limits: limits(a), Say: func(s string) { m.say("    %s", s) }}
	kept, before := znode.NewTree(), m.tree(m.oldZK)
	opt.SaveRemoved = func(dump func(io.Writer) error) error {
		var file bytes.Buffer
		err := dump(&file)
		if err == nil {
			kept, err = znode.ReadDump(&file)
		}
		return err
	}
	var res *migrate.Retired
	_, err := m.run("retire", t, func(ctx context.Context, w *migrate.Writer) (err error) {
		res, err = migrate.Retire(ctx, m.legacyQueue(), m.from[w], w, opt)
		return err
	}, migrate.ErrRestored, migrate.ErrNoRun, migrate.ErrNoQueue, migrate.ErrUnfinished, migrate.ErrNotReleased)
	if res != nil {
		m.say("    retired %d records, and %d stay", len(res.Removes), len(res.Stays))
		for _, item := range res.Stays {
			m.told(item.Record, true, false, word{by: "retire"})
		}
		for _, item := range res.Removes {
			if n := kept.Get(item.Record); n == nil || !bytes.Equal(n.Data, before.Get(item.Record).Data) {
				m.failf("a record was removed, and its bytes were not kept", "%s", item.Record)
			}
		}
	}
	return err
}

// toldByForce notes what a preview says of the jobs that --force would remove.
func (m *migration) toldByForce(opt migrate.RollbackOptions) {
	opt.Force = false
	undo, err := migrate.PreviewRollback(m.ctx, &m.open(m.newZK.Dial).Reader, "", opt)
	if err != nil {
		return
	}
	for _, item := range undo.Keeps {
		m.told(item.Record, true, false, word{"--force", true})
	}
}

// runs are the states of all runs, oldest first.
func (m *migration) runs() (states []migrate.RunState) {
	status := value(migrate.ReadStatus(m.ctx, &m.open(m.newZK.Dial).Reader, nil))
	for _, run := range status.Runs {
		states = append(states, run.State)
	}
	return states
}

// goBack lets the legacy workers work again, if everything was rolled back. The operator
// first removes the records that must not run there.
func (m *migration) goBack() bool {
	rolledBack := func(s migrate.RunState) bool { return s == migrate.RolledBack || s == migrate.Retiring }
	states := m.runs()
	if slices.ContainsFunc(states, func(s migrate.RunState) bool { return !rolledBack(s) }) {
		return false
	}
	if len(states) > 0 && m.retire(trouble{}, act{a: 2, b: 2}) != nil {
		return false
	}
	if slices.ContainsFunc(m.runs(), func(s migrate.RunState) bool { return s != migrate.RolledBack }) {
		return false // a run that was released was being retired
	}
	m.say("the legacy workers run the rest")
	m.frozen, m.left = false, nil
	return true
}
