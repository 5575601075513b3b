package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/rogpeppe/go-internal/testscript"
)

// testSession is the tests' own session. With it, they prepare what is on the server and read the
// result, without the code of the command.
type testSession struct {
	conn   *zk.Conn
	chroot string
}

type testSessionKey struct{}

// credential is that of the only user who may use the scripts' protected znodes.
const (
	password   = "correct horse"
	credential = "operator:" + password
)

func openTestSession(server, chroot string) (*testSession, error) {
	conn, _, err := zk.Connect(strings.Split(server, ","), 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	if err := conn.AddAuth("digest", []byte(credential)); err != nil {
		conn.Close()
		return nil, err
	}
	return &testSession{conn, chroot}, nil
}

// znodeCommand is the command "znode" of scripts. Paths are inside the script's chroot, which
// "znode make" creates.
//
//	znode make PATH [DATA]     creates it and its parents; without DATA it is empty, "null" is null data
//	znode set PATH DATA
//	znode delete PATH          deletes it and everything below it
//	znode protect PATH         permits only the operator to use it
//	znode readonly PATH        permits everyone else only to read it
//	znode open PATH            permits everyone again
//	znode lock PATH            creates an ephemeral znode, as a worker does that locks a job
//	znode next PATH            creates a sequential child and prints its name
//	znode join PATH OWNER      joins an election with an ephemeral child
//	znode leave PATH OWNER     leaves the election
//	znode data PATH            prints the path and data of PATH and everything below it
//	znode stats PATH           prints the same, with Stat and ACL
func znodeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: znode VERB PATH [DATA]")
	}
	d := ts.Value(testSessionKey{}).(*testSession)
	path := d.chroot + strings.TrimSuffix(args[1], "/")
	data := []byte{}
	if len(args) > 2 {
		data = []byte(args[2])
		if args[2] == "null" {
			data = nil
		}
	}
	switch args[0] {
	case "make":
		ts.Check(d.make(path, data))
	case "set":
		_, err := d.conn.Set(path, data, -1)
		ts.Check(err)
	case "delete":
		ts.Check(d.each(path, true, func(p string) error { return d.conn.Delete(p, -1) }))
	case "protect":
		_, err := d.conn.SetACL(path, zk.DigestACL(zk.PermAll, "operator", password), -1)
		ts.Check(err)
	case "readonly":
		_, err := d.conn.SetACL(path, append(zk.DigestACL(zk.PermAll, "operator", password), zk.WorldACL(zk.PermRead)...), -1)
		ts.Check(err)
	case "lock":
		_, err := d.conn.Create(path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		ts.Check(err)
	case "open":
		_, err := d.conn.SetACL(path, zk.WorldACL(zk.PermAll), -1)
		ts.Check(err)
	case "next":
		made, err := d.conn.Create(path+"/mrtQ-050", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
		ts.Check(err)
		fmt.Fprintln(ts.Stdout(), strings.TrimPrefix(made, d.chroot))
	case "join":
		_, err := d.conn.Create(path+"/n-", data, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		ts.Check(err)
	case "leave":
		ts.Check(d.leave(path, data))
	case "data":
		ts.Check(d.each(path, false, func(p string) error { return d.show(ts.Stdout(), p, false) }))
	case "stats":
		ts.Check(d.each(path, false, func(p string) error { return d.show(ts.Stdout(), p, true) }))
	default:
		ts.Fatalf("znode %s: no such verb", args[0])
	}
}

func (d *testSession) make(path string, data []byte) error {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		if err := d.make(path[:i], []byte{}); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	_, err := d.conn.Create(path, data, 0, zk.WorldACL(zk.PermAll))
	return err
}

func (d *testSession) leave(election string, owner []byte) error {
	names, _, err := d.conn.Children(election)
	if err != nil {
		return fmt.Errorf("%s: %w", election, err)
	}
	for _, name := range names {
		data, _, err := d.conn.Get(election + "/" + name)
		if err == nil && bytes.Equal(data, owner) {
			err = d.conn.Delete(election+"/"+name, -1)
		}
		if err != nil && !errors.Is(err, zk.ErrNoNode) { // the one behind it may end meanwhile
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// each visits a znode and everything below it, with children before or after their parent.
func (d *testSession) each(path string, childrenFirst bool, f func(path string) error) error {
	names, _, err := d.conn.Children(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	slices.Sort(names)
	if !childrenFirst {
		if err := f(path); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := d.each(path+"/"+name, childrenFirst, f); err != nil {
			return err
		}
	}
	if childrenFirst {
		return f(path)
	}
	return nil
}

func (d *testSession) show(w io.Writer, path string, whole bool) error {
	data, stat, err := d.conn.Get(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	text := fmt.Sprintf("%q", data)
	if data == nil {
		text = "null"
	}
	fmt.Fprintf(w, "%s %s", strings.TrimPrefix(path, d.chroot), text)
	if whole {
		acl, _, err := d.conn.GetACL(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintf(w, " %+v %+v", *stat, acl)
	}
	fmt.Fprintln(w)
	return nil
}
