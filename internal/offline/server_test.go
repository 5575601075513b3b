package offline_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/offline"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// fataler is the part that [testing.T] and rapid's T share.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// served is a server that holds a dump. The tests compare a tree with it.
type served struct {
	*zkconn.Writer
	server *minizk.Server
	others []minizk.Session // the sessions with ephemeral znodes in the dump
	system []*znode.Node    // the dump's znodes that belong to ZooKeeper itself
}

const user, password = "owner", "secret"

// serve returns a server that holds a dump. The error says why it could not load it.
func serve(t fataler, ctx context.Context, dump string, packet int) (*served, error) {
	t.Helper()
	tree, err := znode.ReadDump(strings.NewReader(dump))
	if err != nil {
		t.Fatal(err)
	}
	server, err := minizk.Start(minizk.Options{
		Private: true, MaxBuffer: packet, LogSize: 1,
		SuperDigest: zk.DigestACL(zk.PermAll, user, password)[0].ID,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Load(tree); err != nil {
		server.Close()
		return nil, err
	}
	s := &served{server: server, others: server.Sessions(), system: slices.Collect(tree.All("/zookeeper"))}
	s.Writer, err = zkconn.OpenWriter(ctx, zkconn.Config{
		Address:     zkconn.Address{Servers: []string{"private:0"}},
		Dial:        server.Dial,
		Auth:        []zkconn.Auth{zkconn.DigestAuth(user, password)},
		MaxResponse: math.MaxInt32,
	})
	if err != nil {
		server.Close()
		t.Fatal(err)
	}
	return s, nil
}

func (s *served) end() {
	s.Close()
	s.server.Close()
}

// dump is the dump of the server's tree after the session has ended.
func (s *served) dump(t fataler) string {
	t.Helper()
	s.Close()
	for _, ss := range s.server.Sessions() {
		if !slices.ContainsFunc(s.others, func(o minizk.Session) bool { return o.ID == ss.ID }) {
			s.server.ExpireSession(ss.ID)
		}
	}
	tree := s.tree(t)
	for _, n := range s.system {
		if err := tree.Put(*n); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := znode.WriteDump(&b, tree); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (s *served) tree(t fataler) *znode.Tree {
	t.Helper()
	tree, err := s.server.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// ranked is a dump that can be compared with another one. The transactions after the
// given one are numbered anew, and have no times. Their sessions all have one id.
func ranked(t fataler, dump string, after int64) string {
	t.Helper()
	tree, err := znode.ReadDump(strings.NewReader(dump))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := znode.WriteDump(&b, rank(tree, after)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func rank(tree *znode.Tree, after int64) *znode.Tree {
	var zxids []int64
	for n := range tree.All("/") {
		zxids = append(zxids, n.Stat.Czxid, n.Stat.Mzxid, n.Stat.Pzxid)
	}
	slices.Sort(zxids)
	zxids = slices.Compact(slices.DeleteFunc(zxids, func(z int64) bool { return z <= after }))
	for n := range tree.All("/") {
		s := &n.Stat
		if s.Czxid > after {
			s.Ctime, s.EphemeralOwner = 0, min(s.EphemeralOwner, 1)
		}
		if s.Mzxid > after {
			s.Mtime = 0
		}
		for _, z := range []*int64{&s.Czxid, &s.Mzxid, &s.Pzxid} {
			if i, new := slices.BinarySearch(zxids, *z); new {
				*z = after + 1 + int64(i)
			}
		}
	}
	return tree
}

// verdict is what an answer means, without its wording.
func verdict(err error) string {
	if err == nil {
		return "done"
	}
	what := "refused"
	for _, known := range []error{znode.ErrNoNode, znode.ErrNodeExists, znode.ErrNotEmpty, znode.ErrBadVersion, znode.ErrEphemeralParent, znode.ErrPath, zkconn.ErrUnknownOutcome} {
		if errors.Is(err, known) {
			what = known.Error()
		}
	}
	for _, same := range [][]error{{jute.BadArguments, offline.ErrSystem}, {jute.InvalidACL, offline.ErrACL}} {
		if slices.ContainsFunc(same, func(known error) bool { return errors.Is(err, known) }) {
			what = same[1].Error()
		}
	}
	var refused *znode.MultiError
	if errors.As(err, &refused) {
		what += " at " + string(rune('0'+refused.Index)) + " " + cmp.Or(refused.Op.String(), "nothing")
	}
	return what
}
