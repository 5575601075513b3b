package accept

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"strings"

	"mrtq/internal/znode"
)

// The methods in this file write what a Then says into want, and look for it in
// seen.

func (w *world) done() error {
	w.last.judged = true
	if w.last.err != nil {
		return fmt.Errorf("it should have succeeded, but was refused: %w", w.last.err)
	}
	return nil
}

func (w *world) wantField(at, key string, value any) error {
	n := w.want.Get(at)
	if n == nil {
		return fmt.Errorf("%s is not there", at)
	}
	o := parse(n.Data)
	if o == nil {
		return fmt.Errorf("%s holds %q, which is not an object", at, n.Data)
	}
	o.set(key, value)
	return errors.Join(w.put(at, encode(o)), w.seenField(at, key, value))
}

func (w *world) seenField(at, key string, value any) error {
	n := w.seen.Get(at)
	if n == nil {
		return fmt.Errorf("%s is not there", at)
	}
	if got := parse(n.Data).get(key); !same(got, value) {
		return fmt.Errorf("%s: %s is %s, expected %s", at, key, show(got), show(value))
	}
	return nil
}

func (w *world) wantNode(at string, holds any) error {
	data := encode(holds)
	if err := w.put(at, data); err != nil {
		return err
	}
	n := w.seen.Get(at)
	switch {
	case n == nil:
		return fmt.Errorf("%s is not there", at)
	case n.Data == nil:
		return fmt.Errorf("%s holds null data, which some clients don't accept as empty data", at)
	case !sameContent(n.Data, data):
		return fmt.Errorf("%s holds %q, expected %q", at, n.Data, data)
	}
	return nil
}

func (w *world) wantNodes(all nodes) error {
	var wrong []error
	for _, at := range paths(all) {
		wrong = append(wrong, w.wantNode(at, all[at]))
	}
	return errors.Join(wrong...)
}

func (w *world) wantGone(at string) error {
	if w.before.Get(at) == nil {
		return fmt.Errorf("%s was not there before", at)
	}
	keep := znode.NewTree()
	for n := range w.want.All("/") {
		if n.Path != at && !strings.HasPrefix(n.Path, at+"/") {
			if err := keep.Put(*n); err != nil {
				return err
			}
		}
	}
	w.want = keep
	if w.seen.Get(at) != nil {
		return fmt.Errorf("%s is still there", at)
	}
	return nil
}

func (w *world) put(at string, data []byte) error {
	n := znode.Node{Path: at, Data: data}
	if old := w.want.Get(at); old != nil {
		n.Stat = old.Stat
	}
	return w.want.Put(n)
}

// checkWhole compares the whole tree: exactly the changes that the Thens name must have
// happened.
func (w *world) checkWhole() error {
	w.unchecked = false
	if err := w.done(); err != nil {
		return err
	}
	var wrong []string
	for _, c := range znode.Diff(w.want, w.seen, "/") {
		changed := c.Want != nil && c.Got != nil
		switch {
		case changed && sameContent(c.Want.Data, c.Got.Data):
		case changed && parse(c.Want.Data) != nil:
			wrong = append(wrong, fields(c)...)
		default:
			wrong = append(wrong, c.String())
		}
	}
	wrong = append(append(wrong, w.rewritten()...), w.kinds()...)
	return failure("the tree has other changes than the Thens name", wrong)
}

// rewritten lists znodes that were written although their data has not changed. It
// leaves out statuses, which an acquisition writes unchanged, and entries and
// folders, which may have been removed and recreated.
func (w *world) rewritten() []string {
	var names []string
	for n := range w.before.All("/") {
		now := w.seen.Get(n.Path)
		if now == nil || path.Base(n.Path) == "status" || len(n.Data) == 0 || !znode.SameData(n.Data, now.Data) {
			continue
		}
		if now.Stat.Mzxid != n.Stat.Mzxid {
			names = append(names, n.Path+": it was written, and its data is the same as before")
		}
	}
	return names
}

// kinds lists new znodes of the wrong kind (docs/new-layout.md). All but locks
// must be persistent. For a lock, a Then says which kind it is.
func (w *world) kinds() []string {
	var names []string
	for n := range w.seen.All("/") {
		if old := w.before.Get(n.Path); old != nil && old.Stat == n.Stat {
			continue
		}
		if n.Stat.EphemeralOwner != 0 && path.Base(n.Path) != "lock" && !znode.Within(n.Path, "/locks") {
			names = append(names, n.Path+": it ends with its creator's session")
		}
	}
	return names
}

func (w *world) unchanged() error {
	w.unchecked = false
	if !w.last.judged && w.last.err != nil {
		return fmt.Errorf("it was refused, but no Then says why: %w", w.last.err)
	}
	var wrong []string
	for _, c := range znode.Diff(w.before, w.seen, "/") {
		wrong = append(wrong, c.String())
	}
	for n := range w.before.All("/") {
		if now := w.seen.Get(n.Path); now != nil && now.Stat != n.Stat {
			wrong = append(wrong, n.Path+": it was written")
		}
	}
	return failure("nothing should have changed", wrong)
}

func failure(what string, lines []string) error {
	const most = 10
	if len(lines) == 0 {
		return nil
	}
	if len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("and %d more", len(lines)-most))
	}
	return errors.New(what + ":\n  " + strings.Join(lines, "\n  "))
}

func fields(c znode.Change) []string {
	want, got := parse(c.Want.Data), parse(c.Got.Data)
	if got == nil {
		return []string{c.String()}
	}
	var wrong []string
	for key := range got {
		if _, ok := want[key]; !ok {
			want[key] = absent{}
		}
	}
	for key, value := range want {
		if is := got.get(key); !same(is, value) {
			wrong = append(wrong, fmt.Sprintf("%s: %s is %s, expected %s", c.Path, key, show(is), show(value)))
		}
	}
	return wrong
}

func sameContent(a, b []byte) bool {
	if x, y := parse(a), parse(b); x != nil && y != nil {
		return reflect.DeepEqual(x, y)
	}
	return znode.SameData(a, b)
}

func same(got, want any) bool { return show(got) == show(want) }

func show(value any) string {
	if value == any(absent{}) {
		return "not there"
	}
	b, _ := json.Marshal(value)
	return string(b)
}
