package daemons

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
)

// library accesses ZooKeeper as the client library does (QueueItemHelper).
type library struct {
	conn *zk.Conn
	root string // chroot
}

// checkedError stands for the exceptions that the Java library declares and its
// callers catch (MerrittZKNodeInvalid, KeeperException). Every other error of
// this package stands for an unchecked exception.
type checkedError struct{ error }

func (e checkedError) Unwrap() error { return e.error }

func checked(err error) bool {
	var c checkedError
	return errors.As(err, &c)
}

func invalid(format string, args ...any) error {
	return checkedError{fmt.Errorf(format, args...)}
}

// lostError is a failure of the simulation's own session, not of a daemon.
type lostError struct{ error }

// check returns the errors that the Java library declares as a checkedError. Any other error
// means that the simulation has lost its session, and check panics with a lostError.
func (l *library) check(what, path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrNodeExists), errors.Is(err, zk.ErrNotEmpty), errors.Is(err, zk.ErrInvalidPath):
		return checkedError{fmt.Errorf("%s %s: %w", what, path, err)}
	}
	panic(lostError{fmt.Errorf("%s %s: %w", what, path, err)})
}

func (l *library) exists(path string) bool {
	there, _, err := l.conn.Exists(l.root + path)
	if l.check("exists", path, err) != nil {
		return false
	}
	return there
}

func (l *library) get(path string) (string, error) {
	data, _, err := l.conn.Get(l.root + path)
	return string(data), l.check("get", path, err)
}

// children returns the names of the children, sorted, as the library sorts them.
func (l *library) children(path string) ([]string, error) {
	names, _, err := l.conn.Children(l.root + path)
	slices.Sort(names)
	return names, l.check("children", path, err)
}

func (l *library) create(path, data string) error {
	_, err := l.conn.Create(l.root+path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	return l.check("create", path, err)
}

func (l *library) createIfNeeded(path string) error {
	if l.exists(path) {
		return nil
	}
	return l.create(path, "")
}

func (l *library) sequential(prefix string) (string, error) {
	path, err := l.conn.Create(l.root+prefix, []byte{}, zk.FlagSequence, zk.WorldACL(zk.PermAll))
	return path[strings.LastIndexByte(path, '/')+1:], l.check("create", prefix, err)
}

func (l *library) set(path, data string) error {
	_, err := l.conn.Set(l.root+path, []byte(data), -1)
	return l.check("set", path, err)
}

func (l *library) createOrSet(path, data string) error {
	if l.exists(path) {
		return l.set(path, data)
	}
	return l.create(path, data)
}

func (l *library) delete(path string) error {
	if path == "" || !l.exists(path) {
		return nil
	}
	return l.check("delete", path, l.conn.Delete(l.root+path, -1))
}

func (l *library) deleteAll(path string) error {
	names, err := l.children(path)
	for _, n := range names {
		if err == nil {
			err = l.deleteAll(path + "/" + n)
		}
	}
	if err != nil {
		return err
	}
	return l.delete(path)
}

// lock takes an item's lock. It returns false if the item is locked or does not
// exist.
func (l *library) lock(item string) bool { return l.ephemeral(item + "/lock") }

func (l *library) ephemeral(path string) bool {
	_, err := l.conn.Create(l.root+path, []byte{}, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	return l.check("lock", path, err) == nil
}

func (l *library) unlock(item string) { _ = l.delete(item + "/lock") }

// jsonProperty reads a JSON object. If the data is anything else, it returns an error.
func (l *library) jsonProperty(path string) (newqueue.Object, error) {
	text, err := l.get(path)
	if err != nil {
		return nil, err
	}
	o, err := newqueue.ParseObject([]byte(text))
	if err != nil {
		return nil, invalid("%s: %w", path, err)
	}
	return o, nil
}

// optJSONProperty reads a JSON object. If there is no znode, or it has no data, it
// returns an empty object.
func (l *library) optJSONProperty(path string) (newqueue.Object, error) {
	if !l.exists(path) {
		return newqueue.Object{}, nil
	}
	if text, err := l.get(path); err != nil || text == "" {
		return newqueue.Object{}, err
	}
	return l.jsonProperty(path)
}

func (l *library) putObject(path string, o newqueue.Object) error {
	b, err := o.Marshal()
	if err != nil {
		return err
	}
	return l.createOrSet(path, string(b))
}
