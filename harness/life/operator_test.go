package life_test

import (
	"context"
	"errors"
	"fmt"
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
	story   []string
	cuts    int // how many changes of an operator were cut
	backup  *backup
	// answers are what the operator has decided for the next command, atWork how many signs of legacy work the last
	// release has named, and stoppedWork on how many nobody works.
	answers             map[string]migrate.Answer
	atWork, stoppedWork int
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
func (m *migration) run(what string, t trouble, command func(ctx context.Context, o *operator) error, reasons ...error) (saw bool, err error) {
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
	err = command(ctx, o)
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
			migrate.ErrNotReleased)
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
		m.endSessions(o)
	case "others act":
		for _, a := range t.acts {
			if a.everywhere && m.leads(o) {
				m.say("  the session of the operator's process ends; it was stopped")
				m.endSessions(o)
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
		m.complete(trouble{}, a)
	}
}

// limits are small transactions, or the usual ones.
func limits(a act) migrate.Limits {
	return pick([]migrate.Limits{{Bytes: 1}, {Bytes: 4096}, {}}, a.b)
}

// refusals are the reasons for which each command may refuse.
var refusals = []error{migrate.ErrRestored, migrate.ErrBlocked}

func (m *migration) migrate(t trouble, a act) error {
	opt := migrate.MigrateOptions{Options: m.options(), SaveQuarantined: m.keep, Limits: limits(a), Say: func(s string) { m.say("    %s", s) }}
	opt.HoldAgain, opt.Restored = a.a%4 != 0, m.restored && a.a%8 != 1
	what := "migrate"
	if a.a%16 == 15 {
		opt.Again, what = []string{"all"}, "migrate --again all"
	}
	if a.who/4%4 > 0 {
		m.unblock()
		opt.Choices = m.choices
	}
	var res *migrate.Result
	_, err := m.run(what, t, func(ctx context.Context, o *operator) error {
		src, err := m.legacyQueue(ctx, o.from)
		if err != nil {
			return err
		}
		res, err = migrate.Migrate(ctx, src, o.w, opt)
		return err
	}, refusals...)
	if res != nil && res.Plan != nil {
		m.planned(res.Plan, err == nil)
		if opt.Again != nil {
			m.again(res.Plan)
		}
	}
	return err
}

// unblock lets records pass that block a plan: the operator chooses so, perhaps in the middle of a run.
func (m *migration) unblock() {
	for _, c := range migrate.AllChoices {
		if v := c.Value(&m.choices); *v == "block" {
			*v = c.Values[1]
		}
	}
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

// again notes that the operator wants records to run again whose jobs are not there.
func (m *migration) again(p *migrate.Plan) {
	jobs := m.jobs()
	for _, e := range p.Records {
		if r := m.at(e.Path); len(jobs[e.Path]) == 0 || m.times(r) > 0 || r.over {
			r.twice = "--again"
		}
	}
}

func (m *migration) verify(t trouble) *migrate.Verdict {
	var v *migrate.Verdict
	_, err := m.run("verify", t, func(ctx context.Context, o *operator) (err error) {
		v, err = migrate.Verify(ctx, nil, &o.w.Reader, migrate.VerifyOptions{AllACLs: true, Quarantined: m.quarantined})
		return err
	})
	if err != nil {
		return nil
	}
	for _, d := range v.Differences {
		m.say("    %.200v", d)
		if d.Kind.Group() == migrate.Damage && d.Kind != "not-kept" && !m.restored {
			m.failf("a sound queue differs", "%v", d)
		}
	}
	return v
}

func (m *migration) release(t trouble, a act) error {
	opt := migrate.ReleaseOptions{VerifyOptions: migrate.VerifyOptions{Quarantined: m.quarantined}, Others: a.a%2 == 0, Restored: m.restored && a.a%8 != 1,
		Limits: limits(a), Decisions: m.answered(), WorkersStopped: m.stoppedWork}
	what := "release"
	if a.a%4 == 3 {
		opt.Queues = []newqueue.QueueHold{pick(newqueue.QueueHolds, a.who)}
		what += fmt.Sprintf(" --only %s", opt.Queues)
	}
	var res *migrate.Released
	_, err := m.run(what, t, func(ctx context.Context, o *operator) (err error) {
		res, err = migrate.Release(ctx, o.w, opt)
		return err
	}, migrate.ErrUnfinished, migrate.ErrNotVerified, migrate.ErrUndecided, migrate.ErrAtWork, migrate.ErrRestored, migrate.ErrNoQueue)
	m.answers, m.stoppedWork = map[string]migrate.Answer{}, 0
	if res != nil {
		m.decideAbout(res.Undecided)
		m.atWork = len(res.AtWork)
	}
	return err
}

// answered is what the operator has decided about records.
func (m *migration) answered() migrate.Decisions {
	return migrate.Decisions{RecordIs: m.answers, Save: func(nodes []znode.Node) error {
		m.say("    kept in a file: %s, and %d more", nodes[0].Path, len(nodes)-1)
		return nil
	}}
}

// decideAbout lets the operator decide about records for the next command, as somebody who has found out what was done.
func (m *migration) decideAbout(undecided []migrate.UndecidedRecord) {
	tree := m.tree()
	for _, u := range undecided {
		r := m.at(u.Record)
		done := m.times(r) > 0
		answer := migrate.IsNew
		switch {
		case u.Question == migrate.LastCopy && (done || r.over):
			answer = migrate.IsLegacy
		case u.Question == migrate.Both && !done && tree.Get(u.Record) != nil:
			answer = migrate.IsLegacy
		}
		if u.Question == migrate.Both && m.timesNew(r) < m.times(r) {
			r.twice = "both queues had begun it, and mrtq asked"
		}
		m.say("    %s: %s: the %s queue has it", u.Record, u.Question, answer)
		m.answers[u.Record] = answer
	}
}

func (m *migration) rollback(t trouble, a act) error {
	opt := migrate.RollbackOptions{Restored: m.restored && a.a%8 != 1, Limits: limits(a), Decisions: m.answered(), Say: func(s string) { m.say("    %s", s) }}
	what := "rollback"
	if a.a%8 == 7 {
		opt.Force = true
		what += " --force"
		m.forced(opt)
	}
	if opt.Restored && m.jobsToo {
		for path := range m.jobs() {
			m.at(path).twice, m.at(path).never = "--restored", "--restored"
		}
	}
	var undo *migrate.Undo
	_, err := m.run(what, t, func(ctx context.Context, o *operator) (err error) {
		undo, err = migrate.Rollback(ctx, o.w, "", opt)
		return err
	}, migrate.ErrRestored, migrate.ErrNoRun, migrate.ErrNotNewest, migrate.ErrNoQueue, migrate.ErrUndecided, migrate.ErrAtWork, migrate.ErrCompleted)
	m.answers = map[string]migrate.Answer{}
	if undo != nil {
		m.decideAbout(undo.Undecided)
	}
	m.forget()
	return err
}

// forced notes what a preview says of the jobs that --force would remove.
func (m *migration) forced(opt migrate.RollbackOptions) {
	undo, err := migrate.PreviewRollback(m.ctx, &m.source.Reader, "", opt)
	if err != nil {
		return
	}
	for _, item := range undo.Forced {
		m.at(item.Record).twice = "--force"
	}
}

func (m *migration) complete(t trouble, a act) {
	_, _ = m.run("complete", t, func(ctx context.Context, o *operator) error {
		_, err := migrate.Complete(ctx, o.w, migrate.CompleteOptions{Limits: limits(a)})
		return err
	}, migrate.ErrNoRun, migrate.ErrUnfinished, migrate.ErrNotReleased, migrate.ErrNoQueue)
}

// runs are the states of all runs, oldest first.
func (m *migration) runs() (states []migrate.RunState) {
	for _, run := range value(migrate.ReadStatus(m.ctx, &m.source.Reader)).Runs {
		states = append(states, run.State)
	}
	return states
}
