package migration

// The steps that say what was read, planned and migrated.

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cucumber/godog"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

type plan struct {
	Problems []struct{ Kind, Path, Record string }
	Findings []struct {
		Kind, Effect, Then string
		Items              []struct{ Path string }
	}
}

// says checks that the last command printed a text, however its lines were broken.
func (w *world) says(text string) error {
	if said := strings.Join(strings.Fields(w.last.stdout+" "+w.last.stderr), " "); !strings.Contains(said, text) {
		return fmt.Errorf("it says %.1500s … %.500s", w.last.stdout, w.last.stderr)
	}
	return nil
}

func (w *world) refused(why string) error {
	if w.last.code == 0 {
		return errors.New("it succeeded")
	}
	return w.says(why)
}

// unwritten compares everything that a write would change, below a part of the scenario's chroot.
func (w *world) unwritten(sub string, before *znode.Tree) error {
	now, err := w.tree(sub)
	if err != nil {
		return err
	}
	return unwritten(before, now, "/")
}

func unwritten(before, now *znode.Tree, at string) error {
	for _, c := range znode.Diff(before, now, at) {
		return errors.New("the trees differ: " + c.String())
	}
	for n := range before.All(at) {
		if now.Get(n.Path).Stat != n.Stat {
			return errors.New(n.Path + ": it was written")
		}
	}
	return nil
}

// legacyUnchanged compares the legacy queue with what it was. Beside it, each run has an empty folder for the bytes that it will keep.
func (w *world) legacyUnchanged() error {
	now, err := w.tree("/legacy")
	if err != nil {
		return err
	}
	for _, folder := range now.Children(keptRoot) {
		if kept := now.Children(znode.Join(keptRoot, folder)); len(kept) > 0 {
			return fmt.Errorf("%s/%s has %q", keptRoot, folder, kept)
		}
	}
	now.Prune(keptRoot)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(w.legacy.Children("/"), now.Children("/"))))) {
		if err := unwritten(w.legacy, now, "/"+name); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) reported(records, bad int) error {
	return cmp.Or(w.wantCode(0), equal("records are reported", strings.Count(w.last.stdout, "\n"), records),
		equal("are undecodable", strings.Count(w.last.stdout, `"error":{`), bad))
}

func sameRows(found []string, table *godog.Table, headers int) error {
	var want []string
	for _, r := range table.Rows[headers:] {
		var cells []string
		for _, c := range r.Cells {
			cells = append(cells, c.Value)
		}
		want = append(want, strings.Join(cells, " | "))
	}
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		return fmt.Errorf("there is\n%s\nexpected\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

func (w *world) planNames(table *godog.Table) error {
	var found []string
	for _, x := range w.planned.Problems {
		found = append(found, x.Path+" | "+x.Kind+" | "+x.Record)
	}
	return sameRows(found, table, 0)
}

func (w *world) risks(table *godog.Table) error {
	var found []string
	for _, f := range w.planned.Findings {
		found = append(found, fmt.Sprintf("%s | %s | %d", f.Effect, f.Then, len(f.Items)))
	}
	return sameRows(found, table, 1)
}

func (w *world) newQueueHolds(table *godog.Table) error {
	tree, err := w.tree("/new")
	if err != nil {
		return err
	}
	var found []string
	for _, state := range tree.Children(newqueue.JobStatesPath) {
		if jobs := tree.Children(newqueue.JobStatesPath + "/" + state); len(jobs) > 0 {
			found = append(found, fmt.Sprintf("%s | %d", state, len(jobs)))
		}
	}
	return cmp.Or(w.wantCode(0), sameRows(found, table, 0))
}

func (w *world) heldAre(queues string) error {
	tree, err := w.tree("/new")
	if err != nil {
		return err
	}
	var held []string
	for _, q := range newqueue.QueueHolds {
		if tree.Get(newqueue.QueueHoldPath(q)) != nil {
			held = append(held, string(q))
		}
	}
	return equal("is held", strings.Join(held, " "), queues)
}

func (w *world) quarantined() error {
	f, err := os.Open(filepath.Join(w.dir, "quarantine.ndjson"))
	if err != nil {
		return err
	}
	defer f.Close()
	records := 0
	err = znode.ScanDump(f, func(n znode.Node) error {
		records++
		if was := w.legacy.Get(n.Path); was == nil || !bytes.Equal(was.Data, n.Data) {
			return fmt.Errorf("%s: kept %q", n.Path, n.Data)
		}
		return nil
	})
	return cmp.Or(err, equal("records are kept", records, 9))
}

func equal[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%v %s, expected %v", got, what, want)
	}
	return nil
}

func more(n int, what string) error {
	if n == 0 {
		return errors.New("no " + what)
	}
	return nil
}

func (w *world) nothingBelow(folders ...string) error {
	tree, err := w.tree("/new")
	if err != nil {
		return err
	}
	for _, state := range tree.Children(newqueue.JobStatesPath) {
		folders = append(folders, newqueue.JobStatesPath+"/"+state)
	}
	for _, folder := range folders {
		for _, name := range tree.Children(folder) {
			if at := folder + "/" + name; at != newqueue.JobStatesPath {
				return fmt.Errorf("%s is left", at)
			}
		}
	}
	return w.wantCode(0)
}
