package migrate

import (
	"context"
	"strings"

	"mrtq/internal/pace"
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

// A Config says how to reach a ZooKeeper: its Address, and what else is not as
// usual, such as TLS, credentials and how long to wait for it.
type Config = zkconn.Config

// An Address is ZooKeeper's connect string taken apart: servers and a chroot.
type Address = zkconn.Address

// ParseAddress reads ZooKeeper's connect string, host:port[,host:port…][/chroot]; a
// missing port is 2181.
func ParseAddress(s string) (Address, error) { return zkconn.ParseAddress(s) }

// TLS says whom to trust and what to show in a [Config]: PEM files.
type TLS = zkconn.TLS

// An Auth is one credential in a [Config].
type Auth = zkconn.Auth

// DigestAuth is the credential of ZooKeeper's digest scheme.
func DigestAuth(user, password string) Auth { return zkconn.DigestAuth(user, password) }

// A Limit caps how many operations a second go to the servers of a [Config]. Several
// sessions can share one; nil is none.
type Limit = pace.Limit

// NewLimit caps at so many operations a second.
func NewLimit(perSecond int) *Limit { return pace.NewLimit(perSecond) }

// A Reader is a session with a ZooKeeper that can't write: it has no call that does.
// Reads are repeated on a new connection when one is lost. Close it.
type Reader = zkconn.Reader

// OpenReader connects to a ZooKeeper to read it. The error is a [*ConnectError] when
// no session could be had.
func OpenReader(ctx context.Context, cfg Config) (*Reader, error) { return zkconn.OpenReader(ctx, cfg) }

// A Session is a session with a ZooKeeper that can also write. A write whose
// connection was lost is never repeated by itself: it fails with an error that says
// that nobody knows whether it was done. Close it.
type Session = zkconn.Writer

// OpenSession connects to a ZooKeeper to write to it. Its chroot, if it has one, must
// be there, or be made with its MakeChroot.
func OpenSession(ctx context.Context, cfg Config) (*Session, error) {
	return zkconn.OpenWriter(ctx, cfg)
}

// A ConnectError says that no session with a ZooKeeper could be had, and why.
type ConnectError = zkconn.ConnectError

// A Watch tells once that something changed on a server.
type Watch = zkconn.Watch

// TreeOptions say what a [Reader] reads as a whole tree.
type TreeOptions = zkconn.TreeOptions

// ErrLost says that a session was lost for good.
var ErrLost = zkconn.ErrLost

// SideOfServer is a server as a side. acl says of which znodes the ACL is read, which
// costs a request each; nil is of none. What may not be read is an error; if r is
// MarkUnreadable's, it is marked instead, and [OpenLegacyQueue] names the records.
func SideOfServer(r *Reader, acl func(path string) bool) Side { return side.Session(r, acl) }

// SideOfTree is a tree in memory as a side.
func SideOfTree(t *Tree) Side { return side.Tree(t) }

// A Dump is a dump as a side. Its znodes stay in the file. Close it.
type Dump = side.Dump

// OpenDump opens a dump that mrtq dump or [WriteDump] wrote, unpacked if its name
// ends in .gz.
func OpenDump(ctx context.Context, path string) (*Dump, error) {
	return side.OpenDump(ctx, path, strings.HasSuffix(path, ".gz"), func(int) {})
}

// ReadDataDir reads a server's data directory without the server, as of the newest
// transaction in it: DIR[,LOGDIR][#/chroot], its dataDir, its dataLogDir if it has
// one, and the subtree that is wanted. Say, if not nil, is told what a person should
// know of it.
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
