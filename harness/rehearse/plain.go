package rehearse

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// plain is a session with a server in this process, one request at a time: others wait. The library that
// services use hands each request through four goroutines, and a rehearsal sends a million. It
// sends no pings: the server of a rehearsal grants a timeout that is longer than the rehearsal.
type plain struct {
	mu  sync.Mutex
	nc  net.Conn
	r   *bufio.Reader
	id  int64
	xid int32
	out []byte
}

var _ daemons.Session = (*plain)(nil)

// mostAnswer is the longest answer: a list of millions of jobs.
const mostAnswer = 1 << 27

// longSession is longer than any rehearsal.
const longSession = 500 * time.Hour

// openPlain opens a session over a connection.
func openPlain(ctx context.Context, dial func(context.Context) (net.Conn, error)) (*plain, error) {
	nc, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	s := &plain{nc: nc, r: bufio.NewReader(nc)}
	open := jute.AppendConnectRequest(make([]byte, 4), jute.ConnectRequest{TimeoutMillis: int32(longSession.Milliseconds()), Password: make([]byte, jute.PasswordLen)})
	jute.AppendInt(open[:0], int32(len(open)-4))
	if _, err = nc.Write(open); err == nil {
		var frame []byte
		if frame, err = jute.ReadFrame(s.r, nil, mostAnswer); err == nil {
			d := jute.NewDecoder(frame)
			s.id = d.ConnectResponse().SessionID
			err = d.Err()
		}
	}
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("opening a session in this process: %w", err)
	}
	return s, nil
}

// said are the errors that workers know, by what the server says.
var said = map[jute.Code]error{
	jute.NoNode: zk.ErrNoNode, jute.NodeExists: zk.ErrNodeExists, jute.NotEmpty: zk.ErrNotEmpty, jute.BadVersion: zk.ErrBadVersion,
	jute.NoAuth: zk.ErrNoAuth, jute.BadArguments: zk.ErrBadArguments, jute.SessionExpired: zk.ErrSessionExpired,
	jute.NoChildrenForEph: zk.ErrNoChildrenForEphemerals, jute.InvalidACL: zk.ErrInvalidACL,
}

func asZK(code jute.Code) error {
	if code == jute.OK {
		return nil
	}
	if err := said[code]; err != nil {
		return err
	}
	return code
}

// do sends one request, and returns the body of its answer.
func (s *plain) do(r jute.Request) (*jute.Decoder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.xid++
	s.out = jute.AppendRequestHeader(append(s.out[:0], 0, 0, 0, 0), jute.RequestHeader{Xid: s.xid, Op: r.Op})
	s.out = jute.AppendRequest(s.out, &r)
	jute.AppendInt(s.out[:0], int32(len(s.out)-4))
	if _, err := s.nc.Write(s.out); err != nil {
		return nil, errors.Join(zk.ErrConnectionClosed, err)
	}
	frame, err := jute.ReadFrame(s.r, nil, mostAnswer)
	if err != nil {
		return nil, errors.Join(zk.ErrConnectionClosed, err)
	}
	d := jute.NewDecoder(frame)
	h := d.ReplyHeader()
	if d.Err() != nil || h.Xid != s.xid {
		return nil, fmt.Errorf("%w: an answer to request %d, expected %d", zk.ErrConnectionClosed, h.Xid, s.xid)
	}
	return d, asZK(h.Err)
}

func (s *plain) Get(path string) ([]byte, *zk.Stat, error) {
	d, err := s.do(jute.Request{Op: jute.OpGetData, Path: path})
	if err != nil {
		return nil, nil, err
	}
	data := d.Buffer("data")
	return data, statOf(d), d.Err()
}

func (s *plain) Exists(path string) (bool, *zk.Stat, error) {
	d, err := s.do(jute.Request{Op: jute.OpExists, Path: path})
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return false, &zk.Stat{}, nil
	case err != nil:
		return false, nil, err
	}
	return true, statOf(d), d.Err()
}

func (s *plain) Children(path string) ([]string, *zk.Stat, error) {
	d, err := s.do(jute.Request{Op: jute.OpGetChildren2, Path: path})
	if err != nil {
		return nil, nil, err
	}
	names := d.Strings("children")
	return names, statOf(d), d.Err()
}

func (s *plain) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	d, err := s.do(jute.Request{Op: jute.OpCreate, Path: path, Data: data, ACL: aclOf(acl), Flags: flags})
	if err != nil {
		return "", err
	}
	return d.String("path"), d.Err()
}

func (s *plain) Set(path string, data []byte, version int32) (*zk.Stat, error) {
	d, err := s.do(jute.Request{Op: jute.OpSetData, Path: path, Data: data, Version: version})
	if err != nil {
		return nil, err
	}
	return statOf(d), d.Err()
}

func (s *plain) Delete(path string, version int32) error {
	_, err := s.do(jute.Request{Op: jute.OpDelete, Path: path, Version: version})
	return err
}

func (s *plain) Multi(ops ...any) ([]zk.MultiResponse, error) {
	var requests []jute.Request
	for _, op := range ops {
		switch op := op.(type) {
		case *zk.CreateRequest:
			requests = append(requests, jute.Request{Op: jute.OpCreate, Path: op.Path, Data: op.Data, ACL: aclOf(op.Acl), Flags: op.Flags})
		case *zk.SetDataRequest:
			requests = append(requests, jute.Request{Op: jute.OpSetData, Path: op.Path, Data: op.Data, Version: op.Version})
		case *zk.DeleteRequest:
			requests = append(requests, jute.Request{Op: jute.OpDelete, Path: op.Path, Version: op.Version})
		case *zk.CheckVersionRequest:
			requests = append(requests, jute.Request{Op: jute.OpCheck, Path: op.Path, Version: op.Version})
		default:
			return nil, fmt.Errorf("%w: %T in a transaction", zk.ErrBadArguments, op)
		}
	}
	d, err := s.do(jute.Request{Op: jute.OpMulti, Ops: requests})
	if d == nil {
		return nil, err
	}
	var answers []zk.MultiResponse
	for _, r := range d.MultiResults() {
		a := zk.MultiResponse{String: r.Path, Error: asZK(r.Err)}
		if r.Op == jute.OpSetData {
			a.Stat = zkStat(r.Stat)
		}
		if a.Error != nil && err == nil {
			err = a.Error
		}
		answers = append(answers, a)
	}
	return answers, errors.Join(err, d.Err())
}

// Sync does nothing: there is one server.
func (s *plain) Sync(path string) (string, error) { return path, nil }

// SessionID is the session's.
func (s *plain) SessionID() int64 { return s.id }

// Close ends the session, with its ephemeral znodes.
func (s *plain) Close() {
	_, _ = s.do(jute.Request{Op: jute.OpCloseSession})
	s.nc.Close()
}

// errNoWatches says that workers who look for work in turns need no watches.
var errNoWatches = errors.New("a rehearsal's worker sets no watch")

func (s *plain) GetW(string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	return nil, nil, nil, errNoWatches
}

func (s *plain) ExistsW(string) (bool, *zk.Stat, <-chan zk.Event, error) {
	return false, nil, nil, errNoWatches
}

func (s *plain) ChildrenW(string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	return nil, nil, nil, errNoWatches
}

func statOf(d *jute.Decoder) *zk.Stat { return zkStat(d.Stat()) }

func zkStat(s znode.Stat) *zk.Stat {
	return &zk.Stat{Czxid: s.Czxid, Mzxid: s.Mzxid, Ctime: s.Ctime, Mtime: s.Mtime, Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion,
		EphemeralOwner: s.EphemeralOwner, DataLength: s.DataLength, NumChildren: s.NumChildren, Pzxid: s.Pzxid}
}

func aclOf(acl []zk.ACL) (all []znode.ACL) {
	for _, a := range acl {
		all = append(all, znode.ACL{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID})
	}
	return all
}
