package migrate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// Options are what a plan depends on, beside the two sides.
type Options struct {
	// Dialect is the dialect of the new queue. If it is "", a plan takes that of the queue
	// that the target holds. If it holds none, the plan has the problem [NoDialect].
	Dialect  newqueue.Dialect
	Policies Policies
	// ACL is the ACL of every znode that a migration creates. nil is that of the run that
	// the plan finishes; if it finishes none, it is open to all.
	ACL []znode.ACL
	// Packet is the server's jute.maxbuffer in bytes; 0 means its default.
	Packet int
	// Again and Done are paths of records, or [All]. A record in Again was migrated and
	// its job is gone: it gets a new job. A record in Done may have been migrated, but
	// its custody was lost: the operator declares it done.
	Again, Done []string
	// Next, if not nil, says what to do about a problem in the caller's words, with the
	// names of its flags and buttons. If it returns "", the plan's own words stay.
	Next func(Problem) string
	// Source and Target are names for reports. They must hold no credentials. A plan can
	// be carried out only on the target of that name.
	Source, Target string
}

// All means every record, in Again and Done of [Options].
const All = "all"

// DefaultPacket is ZooKeeper's default jute.maxbuffer: the longest request
// that a server takes, and the longest answer that a Java client takes.
const DefaultPacket = 0xfffff

// packetSlack is the part of a packet that a migration leaves free, because a server adds
// to a transaction when it logs and proposes it.
const packetSlack = 8 << 10

func (o Options) packet() int {
	if o.Packet == 0 {
		return DefaultPacket
	}
	return o.Packet
}

// settings are the options, and how the source is read, as a plan has them.
func (o Options) settings(queues Queues, opt legacy.Options) Settings {
	return Settings{Queues: queues.withoutEmpty(), Time: opt.Time.String(), ACL: o.ACL, Packet: o.packet(), Again: o.Again, Done: o.Done}
}

// Action is what a plan does with one record.
type Action string

// The actions.
const (
	ActCreate     Action = "create"     // it becomes a new job or access request
	ActRewrite    Action = "rewrite"    // it changed since it was migrated
	ActUnchanged  Action = "unchanged"  // it was migrated before, and has not changed
	ActGone       Action = "gone"       // it was migrated before, and its job is gone: finished and cleaned up, or deleted
	ActSkip       Action = "skip"       // a policy leaves it out
	ActQuarantine Action = "quarantine" // it can't be decoded; its bytes go to a file
	ActBlock      Action = "block"      // it keeps the plan from being carried out; see the problems
)

// Actions are all actions, in the order in which tables show them.
var Actions = []Action{ActCreate, ActRewrite, ActUnchanged, ActGone, ActSkip, ActQuarantine, ActBlock}

// Entry is one record's line in a plan. Every record has exactly one.
type Entry struct {
	Path   string    `json:"path"`
	Queue  QueueKind `json:"queue"`
	SHA256 string    `json:"sha256"`
	Status string    `json:"status,omitempty"` // legacy status; none if the record can't be decoded
	Action Action    `json:"action"`
	ID     string    `json:"id,omitempty"`    // jid or qid
	Batch  string    `json:"batch,omitempty"` // bid
	State  string    `json:"state,omitempty"` // of the job or request
	Reason string    `json:"reason,omitempty"`
}

// BatchEntry is one batch that the plan creates or changes.
type BatchEntry struct {
	BID   string `json:"bid"`
	UUID  string `json:"uuid"`
	Made  bool   `json:"made"` // the plan creates it
	Jobs  int    `json:"jobs"` // after the migration
	State string `json:"state"`
}

// Pin identifies one side as a plan read it.
type Pin struct {
	Name string `json:"name"`
	Zxid int64  `json:"zxid"` // newest transaction seen; 0 if the dump had no Stats
	Hash string `json:"hash"` // of data and versions: any write changes it
}

// Plan is what a migration would do. Only [MakePlan] makes one. A plan changes nothing.
type Plan struct {
	ID      string           `json:"id"` // a digest of everything below except the source's name
	Source  Pin              `json:"source"`
	Target  Pin              `json:"target"`
	Dialect newqueue.Dialect `json:"dialect"`
	// DialectAssumed says that nobody has chosen the dialect: the options have none, and the
	// target holds no queue that shows one. Such a plan can only be looked at.
	DialectAssumed bool `json:"dialect_assumed"`

	Policies Policies     `json:"policies"`
	Settings Settings     `json:"settings"`
	Run      string       `json:"run"`     // the run that it starts or finishes
	Resumes  bool         `json:"resumes"` // it finishes a run
	Records  Records      `json:"records"` // in path order
	Batches  []BatchEntry `json:"batches"`
	Problems []Problem    `json:"problems"` // each one keeps it from being carried out
	Notes
	Structure []string `json:"structure"` // znodes of the layout that it creates, holds included
	Seals     Seals    `json:"seals"`

	opt         Options
	queue       *LegacyQueue
	listed      listedRecords
	target      *survey
	ex          *existing
	rows        []recordRow // by the records' numbers
	recordCount int         // how many records there are
	reasons     textTable
	states      textTable
	seen        observed // what is kept of the records' content
	// rewrites and creates are the jobs that the plan rewrites and creates, each kind in
	// the order of the ids.
	rewrites, creates []plannedJob
	initialStates     []initialState
	objects           nameHash
	services          serviceLook
	batches           map[batchKey]*batch
	batchList         []*batch // the same batches, in the order in which the plan met them
	advances          []counterAdvance
	holds             []string
	unfinished        Run           // the run that it finishes
	afterRollback     bool          // the run before was rolled back, and left something
	otherPolicies     string        // how the policies of the newest run, which has ended, differ
	declaredDone      []ledgerEntry // records that the operator declared done
	outdated          []*batch      // see [Plan.findOutdated]
	counters          counters
}

// Settings are the other options that a plan was made with.
type Settings struct {
	Queues Queues      `json:"queues"`
	Time   string      `json:"time"`
	ACL    []znode.ACL `json:"acl"` // none is open
	Packet int         `json:"packet"`
	Again  []string    `json:"again"`
	Done   []string    `json:"done"`
}

// Empty reports whether there is nothing to do. A plan after a rollback that left
// something is not empty: the rollback removed holds and layout, and the run's record is
// still there.
func (p *Plan) Empty() bool {
	return p.plannedCount() == 0 && len(p.declaredDone) == 0 && len(p.outdated) == 0 && !p.Resumes && !p.afterRollback
}

// Blocked reports whether the plan has problems.
func (p *Plan) Blocked() bool { return len(p.Problems) > 0 }

// Count returns how many records have an action.
func (p *Plan) Count(a Action) int {
	n := 0
	for e := range p.Records.All() {
		if e.Action == a {
			n++
		}
	}
	return n
}

// targetRoots are the subtrees of a target that a migration reads and writes.
var targetRoots = []string{
	newqueue.BatchesPath, newqueue.BatchUUIDsPath, newqueue.JobsPath, newqueue.AccessPath, newqueue.LocksPath, MigrationPath,
}

// pinnedRoots are the subtrees in which any change makes a plan stale. The election is not
// among them, because other migrators may join it.
var pinnedRoots = []string{
	newqueue.BatchesPath, newqueue.BatchUUIDsPath, newqueue.JobsPath, newqueue.AccessPath, newqueue.LocksPath, RunsPath,
}

// MakePlan says what a migration would do. It derives from the source what should exist,
// and leaves out what the target's ledger and jobs show to be migrated already. The same
// source, target and options give the same plan with the same id. What is wrong with
// either side is among the plan's problems. An error comes from reading, or wraps
// [ErrPlace] if the new queue can't be where the target is. If it is about the target, it
// is a [*TargetError].
func MakePlan(ctx context.Context, queue *LegacyQueue, target side.Side, opt Options) (*Plan, error) {
	if err := checkPlaces(ctx, queue, target); err != nil {
		return nil, &TargetError{err}
	}
	on, err := surveyTarget(ctx, target, opt.Target, surveyCalls{})
	if err != nil {
		return nil, &TargetError{err}
	}
	dialect, assumed, err := opt.dialectFor(ctx, target, on.tree)
	if err != nil {
		return nil, &TargetError{err}
	}
	on.forget()
	p := &Plan{
		Target: on.pin, Dialect: dialect, DialectAssumed: assumed, Policies: opt.Policies,
		Settings: opt.settings(queue.Queues, queue.opt),
		opt:      opt, queue: queue, listed: listRecords(queue), target: on, ex: on.existing, objects: newNameHash(), batches: map[batchKey]*batch{},
	}
	p.services = newServiceLook(p.Dialect)
	p.Problems = append(p.Problems, p.ex.custody.damage...)
	if err := p.chooseRun(ctx); err != nil {
		return nil, &TargetError{err}
	}
	if err := p.decideRecords(ctx); err != nil {
		return nil, err
	}
	phases(ctx)(Planning, 0, 0)
	p.checkChoices()
	p.findOutdated()
	p.assignIDs()
	p.planStructure()
	p.requireDialect()
	if err := p.checkSizes(ctx); err != nil {
		return nil, err
	}
	if err := p.checkServices(ctx); err != nil {
		return nil, err
	}
	if err := p.addNotes(ctx); err != nil {
		return nil, err
	}
	p.wordNext()
	p.ID, p.Seals = p.digest()
	return p, nil
}

// TargetError is an error of reading the target.
type TargetError struct{ Err error }

// Error returns the text of Err alone.
func (e *TargetError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *TargetError) Unwrap() error { return e.Err }

// chooseRun chooses the run that the plan belongs to: the unfinished one, or the next.
func (p *Plan) chooseRun(ctx context.Context) error {
	last, ok := p.ex.newest()
	next := int32(0)
	if n := p.ex.tree.Get(RunsPath); n != nil {
		next, _ = n.Stat.NextSequence()
	}
	if ok {
		next = max(next, last.number()+1)
	}
	p.Run = newqueue.SequenceID(runPrefix, next)
	if !ok {
		return p.checkDialect(ctx)
	}
	if last.Dialect != p.Dialect {
		p.problem(Problem{Kind: OtherDialect, Path: last.path(), Message: fmt.Sprintf("the target was migrated in dialect %s, this plan is in %s", last.Dialect, p.Dialect),
			Next: fmt.Sprintf("plan in dialect %s", last.Dialect), Fits: string(last.Dialect)})
	}
	if last.Time != p.Settings.Time {
		p.problem(Problem{Kind: OtherPolicies, Path: last.path(), Message: fmt.Sprintf("times were read as %s by %s, and as %s now", last.Time, last.ID, p.Settings.Time), Next: "read them as " + last.Time, Fits: last.Time})
	}
	if changes := last.changes(p); len(changes) > 0 && last.State != RunRunning {
		p.otherPolicies = fmt.Sprintf("%s was made under other policies: %s", last.ID, ChangesText(changes))
		p.warn(last.path(), p.otherPolicies)
	}
	if !slices.Equal(last.ACL, p.opt.ACL) && last.State != RunRunning {
		p.warn(last.path(), fmt.Sprintf("%s gave its znodes the ACL %s, and this plan gives %s", last.ID, aclText(last.ACL), otherACL(last.ACL, p.opt.ACL)))
	}
	switch last.State {
	case RunRunning:
		p.Run, p.Resumes, p.unfinished = last.ID, true, last
		switch {
		case p.opt.ACL == nil:
			p.opt.ACL, p.Settings.ACL = last.ACL, last.ACL
		case !slices.Equal(last.ACL, p.opt.ACL):
			p.problem(Problem{Kind: OtherPolicies, Path: last.path(), Message: fmt.Sprintf("%s gives its znodes the ACL %s, and this plan gives %s", last.ID, aclText(last.ACL), otherACL(last.ACL, p.opt.ACL)),
				Next: fmt.Sprintf("finish it with that one, or roll back %s first", last.ID), Fits: last.ID})
		}
		if last.Policies != p.Policies {
			p.problem(Problem{Kind: OtherPolicies, Path: last.path(), Message: fmt.Sprintf("%s was begun under other policies: %s", last.ID, ChangesText(last.Policies.Changes(p.Policies))),
				Next: fmt.Sprintf("finish it with those, or roll back %s first", last.ID), Fits: last.ID})
		}
	case RunRolledBack:
		p.afterRollback = true
	case RunRollingBack:
		p.problem(Problem{Kind: RollbackUnfinished, Path: last.path(), Message: last.ID + " is being rolled back",
			Next: fmt.Sprintf("finish rolling back %s first", last.ID), Fits: last.ID})
	}
	return nil
}

// findBatch looks for a batch in the target.
func (p *Plan) findBatch(b *batch) {
	if b.key.kind == ofBatch && ownBatchName.MatchString(b.key.name) {
		p.problem(Problem{Kind: BatchExists, Path: newqueue.BatchUUIDPath(b.key.name), Message: fmt.Sprintf("batchID %q is a name that migrations give to their own batches", b.key.name),
			Next: "give the legacy records of that batch another batchID"})
	}
	path := newqueue.BatchUUIDPath(b.key.uuid())
	bid, there := p.target.uuids[path]
	if !there {
		return
	}
	own := p.target.batchAt(bid)
	if own == nil || own.kind != b.key.kind {
		p.problem(Problem{Kind: BatchExists, Path: path, Message: fmt.Sprintf("batch %s is already in the target as %s, and no migration made it", b.key.uuid(), bid),
			Next: "find out who made it; remove or rename one of the two"})
		return
	}
	b.bid, b.run = bid, own.run
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sortedBatches are the plan's batches by BID.
func (p *Plan) sortedBatches() []*batch {
	return slices.SortedFunc(slices.Values(p.batchList), func(a, b *batch) int {
		return cmp.Or(cmp.Compare(a.bid, b.bid), cmp.Compare(a.key.uuid(), b.key.uuid()))
	})
}

// EarlierSource is the source that the target's newest run before this plan took its
// records from, as it was given then; "" if there was none.
func (p *Plan) EarlierSource() string {
	r, _ := p.ex.newest()
	return r.Source
}

// OtherPolicies says how the policies or the ACL of the target's newest run, which has
// ended, differ from this plan's; "" if they don't.
func (p *Plan) OtherPolicies() string { return p.otherPolicies }

// NewestRun is the id of the target's newest run before this plan, "" if there was none.
func (p *Plan) NewestRun() string {
	r, _ := p.ex.newest()
	return r.ID
}

// AfterRollback reports whether the target's newest run before this plan was rolled back,
// and the rollback kept something.
func (p *Plan) AfterRollback() bool { return p.afterRollback }
