package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"mrtq/internal/part"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/follow"
	"mrtq/migrate/internal/handover"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/plan"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// FollowOptions are the options of [Follow].
type FollowOptions struct {
	// Every is the time from one look at the legacy queue to the next. Once ends with the first look that finds nothing to move.
	Every time.Duration
	Once  bool
	// Quiet is how long no record of a batch must have come before the batch is made: a depositor's batch is posted record by record.
	Quiet time.Duration
	// MaxBuffer is the servers' jute.maxbuffer, in bytes; 0 is [migration.DefaultMaxBuffer].
	MaxBuffer int
	Limits    migration.TransactionLimits
	// Each is called with each record that has moved, or that begins to wait or to stay; nil ignores them.
	Each   func(migration.Followed)
	Notify func(string)
}

// FollowResult is what [Follow] did.
type FollowResult struct {
	Run   string `json:"run"`
	Moved int    `json:"moved"`
	// Staying are the records that wait or stay, in byte order of their paths.
	Staying []migration.Followed `json:"staying"`
}

// Follow moves records that arrive in the legacy queue after a release to the new queue, each in one transaction: the record is deleted at the
// version that was read, its bytes are kept, and its job is created in a batch to which no reporter has come yet (docs/life.md, "Follow"). It
// adds to the newest run. It stops no worker, holds no queue, and leads the election only while it moves something. It ends with ctx, which is no error.
//
// The error wraps [ErrNoRun], [ErrUnfinished], [ErrRolledBack], [ErrTwoEnsembles], [ErrOtherSource], [ErrRestored], [ErrDamaged] or [ErrNoPermission];
// [ErrSessionLost] or [ErrDropped] if a new session can go on. The result is never nil.
func Follow(ctx context.Context, dst *Writer, opt FollowOptions) (*FollowResult, error) {
	f := newFollower(&dst.Reader, opt)
	f.w = dst
	err := f.follow(ctx)
	f.res.Staying = f.staying()
	if ctx.Err() != nil && f.res.Run != "" {
		return f.res, nil
	}
	return f.res, cancelled(err)
}

// PreviewFollow decides about each record that is in the legacy queue now, as [Follow] does: FollowOptions.Each gets those that would move, and those
// that would wait or stay. It writes nothing. The error wraps one of those of Follow.
func PreviewFollow(ctx context.Context, dst *Reader, opt FollowOptions) (*FollowResult, error) {
	f := newFollower(dst, opt)
	if err := f.read(ctx); err != nil {
		return f.res, cancelled(err)
	}
	err := f.preview(ctx)
	f.res.Staying = f.staying()
	return f.res, cancelled(err)
}

func newFollower(r *Reader, opt FollowOptions) *follower {
	if opt.Notify == nil {
		opt.Notify = func(string) {}
	}
	if opt.Each == nil {
		opt.Each = func(migration.Followed) {}
	}
	return &follower{r: r, opt: opt, res: &FollowResult{}, looks: map[string]look{}, consumed: map[migration.Hash]string{}, came: map[rules.BatchKey]arrival{}, refused: map[string]int{}}
}

func (f *follower) preview(ctx context.Context) error {
	f.res.Run, f.opt.Quiet = f.t.Ledger.Runs[f.run].ID, 0
	for paths := range slices.Chunk(slices.Collect(f.src.InOrder()), most.N()) {
		_, movers, err := f.decide(ctx, paths)
		if err != nil {
			return err
		}
		for _, r := range movers {
			if key := keyOf(r); key != (migration.Hash{}) {
				f.keys[key] = r.Path
			}
			f.res.Moved++
			f.opt.Each(migration.Followed{Record: r.Path, Fate: migration.FateMoves})
		}
	}
	return nil
}

type follower struct {
	r   *Reader
	w   *Writer // nil if nothing is moved
	opt FollowOptions
	res *FollowResult

	t        *target.Target
	run      int // index
	released map[newqueue.QueueHold]bool
	keys     map[migration.Hash]string // the job of each key
	src      *Source                   // as it was listed last
	counters map[string]target.Counter
	consumed map[migration.Hash]string // the record of each key that a legacy worker has
	looks    map[string]look           // at records that did not move, by path
	came     map[rules.BatchKey]arrival
	refused  map[string]int        // how often in a row the server refused a record
	seen     map[string]znode.Stat // the runs and the holds
	entries  map[string]int64      // the czxids of entries of batches, as the last look saw them
	soon     bool                  // something may be moved at the next look
}

// look is a look at a record that did not move.
type look struct {
	migration.Followed
	at time.Time
}

const (
	// most is how many records one look moves at most, so that what comes first is not kept waiting.
	most part.Size = 1000
	// soonAgain is how long a look waits for what the next one can decide.
	soonAgain = 100 * time.Millisecond
	// A record that waits is read again after waitsFor. One that stays is read after staysFor, because somebody may have repaired it: if there
	// are many, not more than one in perLook.
	waitsFor = 2 * time.Second
	staysFor = 30 * time.Second
	perLook  = 10 * time.Millisecond
	// maxRefused is how often in a row the server may refuse a record before it stays.
	maxRefused = 5
)

func (f *follower) follow(ctx context.Context) error {
	if err := f.read(ctx); err != nil {
		return err
	}
	f.res.Run = f.t.Ledger.Runs[f.run].ID
	if err := handover.MayHandOver(ctx, f.src, f.w, f.t.Ledger.Runs[f.run].Origin); err != nil {
		return err
	}
	turn, err := apply.LeadFollowers(ctx, f.w, apply.OwnerName(now()), f.t.Ledger.Runs[f.run].ACL, f.opt.Notify)
	if err != nil {
		return err
	}
	defer turn.Resign()
	if !f.opt.Once {
		f.opt.Notify(fmt.Sprintf("follow looks at the legacy queue every %v, until it is ended", f.opt.Every))
	}
	said, at := 0, time.Now()
	for {
		f.soon = false
		moved, err := f.look(ctx)
		if f.res.Moved += moved; f.res.Moved > said && time.Since(at) >= time.Minute && !f.opt.Once {
			f.opt.Notify(fmt.Sprintf("moved until now: %d; waiting or staying: %d", f.res.Moved, len(f.staying())))
			said, at = f.res.Moved, time.Now()
		}
		switch {
		case errors.Is(err, apply.ErrTakenOver), errors.Is(err, apply.ErrChanged), errors.Is(err, plan.ErrSourceChanged):
			if err := f.read(ctx); err != nil {
				return err
			}
			f.soon = true
		case err != nil:
			return err
		}
		if f.opt.Once && moved == 0 && !f.soon {
			return nil
		}
		wait := f.opt.Every
		if f.soon {
			wait = min(wait, soonAgain)
		}
		if moved > 0 {
			continue
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

// due are the records to read now: those that are new, and those that did not move and may have changed since.
func (f *follower) due() (paths []string) {
	var again []string
	for path := range f.src.InOrder() {
		l, known := f.looks[path]
		switch {
		case !known:
			paths = append(paths, path)
		case time.Since(l.at) > f.lookAgain(l):
			again = append(again, path)
		}
	}
	f.soon = len(paths) > most.N()
	paths = append(paths, again...)
	return paths[:min(len(paths), most.N())]
}

func (f *follower) lookAgain(l look) time.Duration {
	if l.Fate == migration.FateWaits {
		return waitsFor
	}
	return max(staysFor, time.Duration(len(f.looks))*perLook)
}

// look moves what can be moved.
func (f *follower) look(ctx context.Context) (moved int, err error) {
	if err := f.refresh(ctx); err != nil {
		return 0, err
	}
	made, movers, err := f.decide(ctx, f.due())
	if err != nil || len(movers) == 0 {
		return 0, err
	}
	return f.move(ctx, made, movers)
}

// decide reads records, and returns those that can be moved now, with the plan for them.
func (f *follower) decide(ctx context.Context, paths []string) (*plan.Made, []source.Fetched, error) {
	var movers []source.Fetched
	taken := map[migration.Hash]string{}
	var records []source.Fetched
	for r, err := range f.src.WithACLs().Fetch(ctx, slices.Values(paths)) {
		if err != nil {
			return nil, nil, err
		}
		if key := keyOf(r); r.There {
			records = append(records, r)
			if is, there := f.consumed[key]; key != (migration.Hash{}) && r.Legacy.Header.Status == legacy.Consumed {
				f.consumed[key] = r.Path
			} else if there && is == r.Path {
				delete(f.consumed, key)
			}
		}
	}
	for _, r := range records {
		facts := f.facts(r, taken)
		if fate, why := follow.Decide(facts); fate != migration.FateMoves {
			f.stays(r.Path, fate, why)
			continue
		}
		if key := keyOf(r); key != (migration.Hash{}) {
			taken[key] = r.Path
		}
		movers = append(movers, r)
	}
	places, there, err := f.place(ctx, &movers)
	if err != nil || len(movers) == 0 {
		return nil, nil, err
	}
	made, err := f.plan(&movers, places, there)
	return made, movers, err
}

// keyOf is the hash of a record's key; zero if it has none. Two inventory records of one manifest may be two works.
func keyOf(r source.Fetched) (key migration.Hash) {
	if r.Err == nil && r.Queue != migration.Inventory {
		key = ledger.HashOfKey(rules.KeyOf(r.Record))
	}
	return key
}

func (f *follower) facts(r source.Fetched, taken map[migration.Hash]string) follow.Facts {
	facts := follow.Facts{Is: standing.NotMigrated, Released: f.released[r.Queue.Hold()]}
	if r.Err != nil {
		facts.Unreadable = r.Err.Kind == migration.Unreadable
	} else {
		facts.Decoded, facts.Status = true, r.Legacy.Header.Status
	}
	if e := cmp.Or(standing.EntryOf(f.t.Ledger, r), f.t.Ledger.Find(r.Path)); e != nil {
		is := standing.FactsOf(e, &f.t.Ledger.Runs[e.Run], r, f.src.Czxids())
		switch {
		case !is.Another:
			facts.Is = is.Word()
		case !e.HandedOver:
			facts.Is = standing.AsMigrated
		}
	}
	if key := keyOf(r); key != (migration.Hash{}) && facts.Is == standing.NotMigrated {
		facts.Twin, facts.Consumed = cmp.Or(f.keys[key], taken[key]), f.consumed[key]
	}
	return facts
}

// stays notes that a record did not move, and says so once.
func (f *follower) stays(path string, fate migration.Fate, why string) {
	now := look{migration.Followed{Record: path, Fate: fate, Why: why}, time.Now()}
	if fate != migration.FateLeft && f.looks[path].Followed != now.Followed {
		f.opt.Each(now.Followed)
	}
	f.looks[path] = now
}

func (f *follower) staying() []migration.Followed {
	all := []migration.Followed{}
	for _, path := range slices.Sorted(maps.Keys(f.looks)) {
		if l := f.looks[path]; l.Fate != migration.FateLeft {
			all = append(all, l.Followed)
		}
	}
	return all
}
