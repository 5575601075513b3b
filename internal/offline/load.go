package offline

import (
	"context"
	"fmt"
	"path/filepath"

	"mrtq/internal/side"
	"mrtq/internal/znode"
)

// systemRoot is where ZooKeeper's own znodes are. A server creates them itself. Those
// of the dump stay unchanged and can't be written.
const systemRoot = "/zookeeper"

// dir is the folder of the file that a path points to.
func dir(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Dir(path)
}

// load writes the dump as the first run. It corrects the numbers in the Stats that a
// server counts itself.
func (t *Tree) load(ctx context.Context, dump *side.Dump) error {
	l := loader{t: t, open: []*opened{{path: "/", state: state{data: []byte{}}, children: 1}}} // the one child is systemRoot
	if dump != nil {
		w, err := t.newRun(dump.Nodes() + 1)
		if err != nil {
			return err
		}
		l.w = w
		for n, err := range dump.Walk(ctx, "/") {
			if err == nil {
				err = l.add(&n)
			}
			if err != nil {
				l.w.run.close()
				return err
			}
		}
		r, err := w.finish()
		if err != nil {
			return err
		}
		r.level = neverMerged
		t.runs = append([]*run{r}, t.runs...)
	}
	for len(l.open) > 0 {
		if err := l.shut(); err != nil {
			return err
		}
	}
	return nil
}

// neverMerged is the level of the dump's run. No other run has this level.
const neverMerged = 1 << 30

// loader reads a dump in path order.
type loader struct {
	t    *Tree
	w    *runWriter
	open []*opened // the znodes that can be parents of the next one, topmost first
}

// opened is a znode whose children are being counted.
type opened struct {
	path string
	state
	children int32
}

func (l *loader) add(n *znode.Node) error {
	t := l.t
	s := state{data: n.Data, stat: n.Stat}
	if !znode.IsOpenACL(n.ACL) {
		s.acl = n.ACL
	}
	t.zxid = max(t.zxid, s.stat.Czxid, s.stat.Mzxid, s.stat.Pzxid)
	l.w.add(&entry{path: n.Path, state: s})
	if n.Path == "/" {
		l.open[0].state = s
		return l.w.err
	}
	if znode.Within(n.Path, systemRoot) {
		t.system = true
		return l.w.err
	}
	for top := l.open[len(l.open)-1]; top.path != "/" && n.Path >= top.path+"0"; top = l.open[len(l.open)-1] {
		if err := l.shut(); err != nil {
			return err
		}
	}
	parent := znode.Parent(n.Path)
	for i := len(l.open) - 1; i >= 0; i-- {
		if o := l.open[i]; o.path == parent {
			if o.path != "/" && ephemeral(o.stat.EphemeralOwner) {
				return fmt.Errorf("%s: it is below an ephemeral znode, and no server has such znodes", n.Path)
			}
			o.children++
			break
		}
	}
	l.open = append(l.open, &opened{path: n.Path, state: s})
	return l.w.err
}

// shut finishes the last of the open znodes, after everything below it was read.
func (l *loader) shut() error {
	o := l.open[len(l.open)-1]
	l.open = l.open[:len(l.open)-1]
	s := o.state
	creates := createsOf(s.stat)
	if o.path == "/" && s.stat == (znode.Stat{}) {
		creates = o.children - 1
	}
	s.stat.NumChildren = o.children
	setCreates(&s.stat, creates)
	s.stat.DataLength = int32(len(s.data))
	if o.path == "/" || !ephemeral(s.stat.EphemeralOwner) {
		s.stat.EphemeralOwner = 0
	}
	if s.stat == o.stat && (o.path != "/" || l.w != nil) {
		return nil
	}
	n, _ := l.t.recent.place(o.path)
	l.t.recent.put(n, s)
	if l.w == nil {
		n.fresh = true
	}
	return l.t.spill()
}
