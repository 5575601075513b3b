package migrate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"mrtq/internal/election"
	"mrtq/internal/offline"
	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Backend is the session that writes to a migration's target: with a server, or with a
// dump. [zkconn.Writer] says what the methods do.
type Backend interface {
	election.Session
	Exists(ctx context.Context, path string) (znode.Stat, bool, error)
	Start(ctx context.Context, ops []znode.Op) <-chan error
	Address() zkconn.Address
	// Side reads the target as of now. acl chooses the znodes whose ACLs are read; nil
	// chooses none.
	Side(acl func(path string) bool) side.Side
	Close()
}

// Target is where the new queue is, over a session that can write.
type Target struct {
	Backend
	place *election.Place // in the election of migrators; nil outside of it
	// waited says that this migrator had to wait for another one.
	waited bool
}

// NewTarget returns the target that a session writes to.
func NewTarget(w *zkconn.Writer) *Target { return &Target{Backend: online{w}} }

// OfflineTree is a dump that takes transactions without a server, and answers as a server
// would. WriteDump writes the result as another dump. Most of the tree is on disk, so it
// can be large. Close it.
type OfflineTree = offline.Tree

// OpenOfflineTree opens a dump as an OfflineTree. If dump is nil, the tree is empty. The
// dump may be closed afterwards. Temporary files go to the folder of the file beside.
// packet is the jute.maxbuffer in bytes that the tree keeps to; 0 is ZooKeeper's default.
func OpenOfflineTree(ctx context.Context, dump *Dump, beside string, packet int) (*OfflineTree, error) {
	return offline.Open(ctx, dump, offline.Options{Beside: beside, Packet: packet})
}

// NewOfflineTarget returns a target that is a dump, without a server.
func NewOfflineTarget(t *OfflineTree) *Target { return &Target{Backend: t} }

// online is a session with a server.
type online struct{ *zkconn.Writer }

// Start does all operations or none, before it returns. The channel gives the error.
func (o online) Start(ctx context.Context, ops []znode.Op) <-chan error {
	done := make(chan error, 1)
	done <- o.Multi(ctx, ops)
	return done
}

func (o online) Side(acl func(path string) bool) side.Side { return side.Session(&o.Reader, acl) }

// side returns the target as a side. Reading it gives the state as of now.
func (t *Target) side(ctx context.Context) (side.Side, error) {
	if err := t.Sync(ctx); err != nil {
		return nil, err
	}
	return t.Side(nil), nil
}

// runs reads the records of the runs as of now.
func (t *Target) runs(ctx context.Context) ([]Run, error) {
	s, err := t.side(ctx)
	if err != nil {
		return nil, err
	}
	return runRecords(ctx, s)
}

// Get reads one znode as of now. The answer is never older than what any client saw before
// the call, whichever server of an ensemble answers.
func (t *Target) Get(ctx context.Context, path string) (znode.Node, error) {
	if err := t.Sync(ctx); err != nil {
		return znode.Node{}, err
	}
	return t.Backend.Get(ctx, path)
}

// chrootLen is how many bytes the session's chroot adds to every path.
func (t *Target) chrootLen() int { return len(t.Address().Chroot) }

// lead waits until this is the only migrator at work (docs/migration.md, "Runs"). It calls
// say with the reason why it waits. joined, if not nil, is called when this migrator has
// joined the election. acl is the run's ACL. The znodes of the election get it too, so that
// a client which may not write to the run can't remove a migrator.
func (t *Target) lead(ctx context.Context, owner string, acl []znode.ACL, joined func() error, say func(string)) error {
	if err := t.openElection(ctx, acl); err != nil {
		return fmt.Errorf("join the election: %w", err)
	}
	var err error
	if t.place, err = election.Join(ctx, t.Backend, ElectionPath, owner, acl); err != nil {
		return err
	}
	if joined != nil {
		if err := joined(); err != nil {
			return err
		}
	}
	return t.place.Lead(ctx, func(a election.Ahead) {
		if a.Stray {
			say(fmt.Sprintf("%s is ignored, because no session holds it, so it is not a migrator's: remove it when you know who made it", a.Path))
		} else {
			t.waited = true
			say(t.waitText(a.Owner))
		}
	})
}

// waitText says which migrator this one waits for. That migrator may be dead, and this one
// can't find out. So waitText also says how long the wait can be then.
func (t *Target) waitText(owner string) string {
	text := fmt.Sprintf("another migrator is at work (%s); waiting until it ends", owner)
	if on, ok := t.Backend.(online); ok {
		text += fmt.Sprintf(". If it was killed, its session ends after %v, unless it asked for another session timeout than this migrator. "+
			"This migrator has changed no job, and can be stopped or killed safely", on.SessionTimeout())
	}
	return text
}

// runACL returns the ACL of everything that a run creates. It comes from the run's record,
// or from the trace on /jobs if the record is missing or damaged. If neither names the
// run, the ACL is nil, which is open to all.
func (t *Target) runACL(ctx context.Context, id string) ([]znode.ACL, error) {
	if _, ok := newqueue.ParseSequenceID(runPrefix, id); !ok {
		return nil, nil
	}
	n, err := t.Get(ctx, znode.Join(RunsPath, id))
	if err == nil {
		if run, err := parseRun(&n); err == nil {
			return run.ACL, nil
		}
	} else if !errors.Is(err, znode.ErrNoNode) {
		return nil, err
	}
	n, err = t.Get(ctx, newqueue.JobsPath)
	if errors.Is(err, znode.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	trace, _ := parseTrace(n.Data)
	run, _ := trace.find(id)
	return run.ACL, nil
}

// openElection creates the znodes that the election needs. If it has to create /migration,
// it does so in one transaction with the election. That tells it from one that was there
// before; see [ownMigration].
func (t *Target) openElection(ctx context.Context, acl []znode.ACL) error {
	for _, missing := range [][]leaf{{{MigrationPath, none}, {ElectionPath, none}}, {{ElectionPath, none}}} {
		err := t.Multi(ctx, creates(missing, acl))
		if err == nil || !errors.Is(err, znode.ErrNodeExists) {
			return err
		}
	}
	return nil
}

// ownMigration reports whether a migrator created /migration. The field's own script keeps
// markers there, and may have created it before (docs/field-script.md, "Migration levels").
func ownMigration(migration, election znode.Stat) bool { return migration.Czxid == election.Czxid }

// resign leaves the election. If nobody else is in it and there is no run, resign removes
// the election and /migration, so that a migrator that did nothing leaves nothing. If the
// server can't be reached, the end of the session has the same effect.
func (t *Target) resign() {
	if t.place == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = t.place.Resign(ctx) // else the end of the session does it
	t.place = nil
	t.Tidy(ctx)
}

// Tidy removes what a migrator leaves if it is killed before its first transaction: an
// empty election, and /migration if a migrator created it. Tidy removes nothing if there
// is a run or anything else below these. It reports whether it removed anything.
func (t *Target) Tidy(ctx context.Context) bool {
	election, err := t.Get(ctx, ElectionPath)
	if err != nil || election.Stat.NumChildren > 0 {
		return false
	}
	if _, runs, err := t.Exists(ctx, RunsPath); err != nil || runs {
		return false
	}
	migration, err := t.Get(ctx, MigrationPath)
	if err != nil {
		return false
	}
	ops := []znode.Op{znode.Delete(ElectionPath, 0)}
	if ownMigration(migration.Stat, election.Stat) && migration.Stat.NumChildren == 1 {
		ops = append(ops, znode.Delete(MigrationPath, 0))
	}
	return <-t.Start(ctx, ops) == nil
}

// OwnerName returns a name for this process: its host, its pid, and now. A person can
// find the process by it.
func OwnerName(now time.Time) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s pid %d since %s", host, os.Getpid(), now.UTC().Format(time.RFC3339))
}
