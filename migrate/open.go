package migrate

import (
	"context"
	"strings"

	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/zkdata"
)

// A Side is where znodes come from, read in streams: a server, a dump, a server's
// data directory, a tree in memory. It is safe for concurrent use. Get one from
// [SideOfServer], [OpenDump], [ReadDataDir] or [SideOfTree].
type Side = side.Side

// A Subtree is a znode and all that is below it, in path order.
type Subtree = side.Subtree

// A Config says how to reach a ZooKeeper: its Address and, if needed, TLS, credentials
// and timeouts.
type Config = zkconn.Config

// An Address is a parsed connect string of ZooKeeper: servers and a chroot.
type Address = zkconn.Address

// ParseAddress reads ZooKeeper's connect string, host:port[,host:port…][/chroot]; a
// missing port is 2181.
func ParseAddress(s string) (Address, error) { return zkconn.ParseAddress(s) }

// TLS names the PEM files of a [Config]: whom to trust, and the client's own certificate.
type TLS = zkconn.TLS

// An Auth is one credential in a [Config].
type Auth = zkconn.Auth

// DigestAuth is the credential of ZooKeeper's digest scheme.
func DigestAuth(user, password string) Auth { return zkconn.DigestAuth(user, password) }

// A Limit caps the operations per second that go to the servers of a [Config]. Several
// sessions can share one. Nil is no limit.
type Limit = zkconn.Limit

// NewLimit is a limit of perSecond operations per second.
func NewLimit(perSecond int) *Limit { return zkconn.NewLimit(perSecond) }

// A Reader is a session with a ZooKeeper that can't write, because it has no method for
// it. If a connection is lost, it repeats the reads on a new one. Close it.
type Reader = zkconn.Reader

// OpenReader connects to a ZooKeeper to read it. The error is a [*ConnectError] if there
// is no session.
func OpenReader(ctx context.Context, cfg Config) (*Reader, error) { return zkconn.OpenReader(ctx, cfg) }

// A Session is a session with a ZooKeeper that can also write. If the connection is lost
// during a write, the session does not repeat it. The error says that the outcome is not
// known. Close it.
type Session = zkconn.Writer

// OpenSession connects to a ZooKeeper to write to it. If the address has a chroot, it must
// exist; the session's MakeChroot creates it.
func OpenSession(ctx context.Context, cfg Config) (*Session, error) {
	return zkconn.OpenWriter(ctx, cfg)
}

// A ConnectError says why there is no session with a ZooKeeper.
type ConnectError = zkconn.ConnectError

// A Watch fires once, when something changes on a server.
type Watch = zkconn.Watch

// ErrLost says that a session was lost for good.
var ErrLost = zkconn.ErrLost

// SideOfServer is a server as a side. acl chooses the znodes whose ACLs are read. Each
// costs a request; nil chooses none. A znode that may not be read is an error. If r is
// from MarkUnreadable, it is marked instead, and [OpenLegacyQueue] names the records.
func SideOfServer(r *Reader, acl func(path string) bool) Side { return side.Session(r, acl) }

// SideOfTree is a tree in memory as a side.
func SideOfTree(t *Tree) Side { return side.Tree(t) }

// A Dump is a dump as a side. Its znodes stay in the file. Close it.
type Dump = side.Dump

// OpenDump opens a dump, as [WriteDump] and the command mrtq dump write it. It unpacks a
// file whose name ends in .gz.
func OpenDump(ctx context.Context, path string) (*Dump, error) {
	return side.OpenDump(ctx, path, strings.HasSuffix(path, ".gz"), func(int) {})
}

// ReadDataDir reads a server's data directory without the server, as of the newest
// transaction in it. dirs is DIR[,LOGDIR][#/chroot]: its dataDir, its dataLogDir if it
// has one, and the subtree to read. say, if not nil, is called with messages for a
// person.
func ReadDataDir(ctx context.Context, dirs string, say func(string)) (Side, error) {
	place, err := zkdata.ParsePlace(dirs)
	if err != nil {
		return nil, err
	}
	d, err := zkdata.Read(ctx, place, zkdata.Options{Say: say})
	if err != nil {
		return nil, err
	}
	return side.Data(d), nil
}
