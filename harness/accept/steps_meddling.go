package accept

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// This file has the step that damages a znode, and those in which another client acts
// between a read and a write of the code under test.

func (w *world) ofTheJobHolds(name, job, text string) error {
	return w.write(znode.Node{Path: w.names[job] + "/" + name, Data: []byte(text)})
}

// erase deletes znodes by hand, each with everything below it.
func (w *world) erase(paths ...string) error {
	if _, err := w.flush(); err != nil {
		return err
	}
	var ops []any
	kept := znode.NewTree()
	for n := range w.seen.All("/") {
		if !slices.ContainsFunc(paths, func(p string) bool { return znode.Within(n.Path, p) }) {
			if err := kept.Put(*n); err != nil {
				return err
			}
			continue
		}
		ops = append(ops, &zk.DeleteRequest{Path: w.root + n.Path, Version: -1})
	}
	slices.Reverse(ops) // children first
	if _, err := w.suite.observer.conn.Multi(ops...); err != nil {
		return w.stopIfLost(fmt.Errorf("delete %s: %w", strings.Join(paths, ", "), err))
	}
	w.seen, w.there, w.before = kept, kept.Clone(), nil
	return nil
}

// actsFirst lets another client do something with a job before the next write.
func (w *world) actsFirst(does, name, priority string) error {
	at, err := w.path(name)
	if err != nil {
		return err
	}
	w.meanwhile = func() error {
		jid, state, old := path.Base(at), w.stateOf(w.seen, at), priorityIn(w.seen, at)
		batch := w.names["batch"] + "/states/"
		switch does {
		case "locks":
			return w.lockByHand(name)
		case "deletes":
			return w.erase(at, entry(state, old, jid), batch+folderOf(state)+"/"+jid)
		case "resumes":
			status := parse(w.seen.Get(at + "/status").Data)
			status["status"] = w.state("downloading")
			return errors.Join(
				w.write(znode.Node{Path: at + "/status", Data: status.bytes()},
					znode.Node{Path: entry("downloading", old, jid), Data: []byte{}},
					znode.Node{Path: batch + "batch-processing/" + jid, Data: []byte{}}),
				w.erase(entry(state, old, jid), batch+folderOf(state)+"/"+jid))
		case "gives":
			n, err := strconv.Atoi(priority)
			if err != nil {
				return err
			}
			return errors.Join(
				w.write(znode.Node{Path: at + "/priority", Data: []byte(priority)}, znode.Node{Path: entry(state, n, jid), Data: []byte{}}),
				w.erase(entry(state, old, jid)))
		}
		return fmt.Errorf("no step is defined in which another client %s a job", does)
	}
	return nil
}

func (w *world) addsJobFirst(name, state string) error {
	w.meanwhile = func() error { return w.aJobOfIt(name, state) }
	return nil
}

// overtaken is the connection of the code under test. With it another client can write
// just before the code under test does.
type overtaken struct {
	newqueue.Conn
	w *world
}

// Multi lets the other client write first, and adds that to the tree before the
// act.
func (o overtaken) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if do := o.w.meanwhile; do != nil {
		o.w.meanwhile = nil
		if err := errors.Join(do(), o.w.look()); err != nil {
			return nil, err
		}
		o.w.before = o.w.seen
	}
	return o.Conn.Multi(ops...)
}
