package daemons

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// library accesses ZooKeeper as the client library does (QueueItemHelper). One turn of
// an actor has it for itself.
type library struct {
	conn  func() Session // opens a session if there is none
	root  string         // chroot
	pause func(Pause)    // is called before each write, and may end the turn
}

// thrown is an exception of an original. It is a panic, so that a simulated daemon reads as its
// original does, and ends where the original catches it: see try.
type thrown struct{ error }

func throw(err error) {
	if err != nil {
		panic(thrown{err})
	}
}

func throwf(format string, args ...any) { throw(fmt.Errorf(format, args...)) }

func try(do func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case thrown:
			err = r.error
		default:
			panic(r)
		}
	}()
	do()
	return nil
}

// checkedError stands for the exceptions that the Java library declares and its
// callers catch (MerrittZKNodeInvalid, KeeperException). Every other error that is thrown
// stands for an unchecked exception.
type checkedError struct{ error }

func (e checkedError) Unwrap() error { return e.error }

func checked(err error) bool {
	var c checkedError
	return errors.As(err, &c)
}

func invalid(format string, args ...any) error {
	return checkedError{fmt.Errorf(format, args...)}
}

// lostError is a failure of the simulation's own session, not of a daemon. It ends a
// turn as a panic.
type lostError struct{ error }

func (e lostError) Unwrap() error { return e.error }

func lost(err *error) {
	switch r := recover().(type) {
	case nil:
	case lostError:
		*err = r
	case thrown: // nothing has caught it
		*err = r
	default:
		panic(r)
	}
}

// check returns the errors that the Java library declares as a checkedError. Any other
// error means that the simulation has lost its session, and check panics with a
// lostError.
func (l *library) check(what, path string, err error) error {
	if err == nil {
		return nil
	}
	said := fmt.Errorf("%s %s: %w", what, path, err)
	for _, declared := range []error{zk.ErrNoNode, zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrInvalidPath, zk.ErrBadArguments} {
		if errors.Is(err, declared) {
			return checkedError{said}
		}
	}
	panic(lostError{said})
}

// before says what the actor is about to change. It may end the turn instead.
func (l *library) before(what, path string) {
	l.pause(Pause{Write: what + " " + path})
}

func (l *library) exists(path string) bool {
	there, _, err := l.conn().Exists(l.root + path)
	return l.check("exists", path, err) == nil && there
}

func (l *library) get(path string) string {
	data, _, err := l.conn().Get(l.root + path)
	throw(l.check("get", path, err))
	return string(data)
}

func (l *library) peek(path string) (data string) {
	_ = try(func() { data = l.get(path) })
	return data
}

// children returns the names of the children, sorted, as the library sorts them.
func (l *library) children(path string) ([]string, error) {
	names, _, err := l.conn().Children(l.root + path)
	slices.Sort(names)
	return names, l.check("children", path, err)
}

func (l *library) create(path, data string) {
	l.before("create", path)
	_, err := l.conn().Create(l.root+path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	throw(l.check("create", path, err))
}

func (l *library) createIfNeeded(path string) {
	if !l.exists(path) {
		l.create(path, "")
	}
}

func (l *library) sequential(prefix, data string) string {
	l.before("create", prefix)
	path, err := l.conn().Create(l.root+prefix, []byte(data), zk.FlagSequence, zk.WorldACL(zk.PermAll))
	throw(l.check("create", prefix, err))
	return path[strings.LastIndexByte(path, '/')+1:]
}

// set writes data whatever the znode's version is, as the library does.
func (l *library) set(path, data string) {
	l.before("set", path)
	_, err := l.conn().Set(l.root+path, []byte(data), -1)
	throw(l.check("set", path, err))
}

// delete removes a znode if there is one. If that fails the library tries again, and
// then goes on without a word.
func (l *library) delete(path string) {
	if path == "" || !l.exists(path) {
		return
	}
	l.before("delete", path)
	_ = l.check("delete", path, l.conn().Delete(l.root+path, -1))
}

func (l *library) deleteAll(path string) {
	names, _ := l.children(path)
	for _, n := range names {
		l.deleteAll(path + "/" + n)
	}
	l.delete(path)
}

func (l *library) lock(item string) bool {
	return !l.exists(item+"/lock") && l.ephemeral(item+"/lock")
}

func (l *library) ephemeral(path string) bool {
	l.before("create", path)
	_, err := l.conn().Create(l.root+path, []byte{}, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	return l.check("lock", path, err) == nil
}

func (l *library) unlock(item string) { l.delete(item + "/lock") }

// lockName does what MerrittLocks does: replaceAll(":?/", "_").
func lockName(id string) string {
	return strings.NewReplacer(":/", "_", "/", "_").Replace(id)
}

func (l *library) jsonProperty(path string) newqueue.Object { return parse(path, l.get(path)) }

func (l *library) peekJSON(path string) (o newqueue.Object) {
	_ = try(func() { o = l.jsonProperty(path) })
	return o
}

func (l *library) optJSONProperty(path string) newqueue.Object {
	if !l.exists(path) {
		return newqueue.Object{}
	}
	if text := l.get(path); text != "" {
		return parse(path, text)
	}
	return newqueue.Object{}
}

func parse(path, text string) newqueue.Object {
	o, err := newqueue.ParseObject([]byte(text))
	if err != nil {
		throw(invalid("%s: %w", path, err))
	}
	return o
}

func (l *library) putObject(path string, o newqueue.Object) {
	if l.exists(path) {
		l.set(path, javaJSON(o))
	} else {
		l.create(path, javaJSON(o))
	}
}

// The folders that the services make when they start (docs/deployed-services.md, "Folders").
var (
	lockFolders   = []string{"/locks", "/locks/queue", "/locks/localid", "/locks/storage", "/locks/inventory", "/locks/collections"}
	jobFolders    = append([]string{"/batches", "/batch-uuids", "/jobs", "/jobs/states"}, stateFolders()...)
	accessFolders = []string{"/access", "/access/small", "/access/large"}
)

func stateFolders() (all []string) {
	for _, state := range slices.Sorted(slices.Values(states.States(states.Job, string(newqueue.MrtZK)))) {
		all = append(all, "/jobs/states/"+state)
	}
	return all
}

func (l *library) makeFolders(folders []string) error {
	return try(func() {
		for _, path := range folders {
			l.createIfNeeded(path)
		}
	})
}
