package life_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Another target that is migrated from the same legacy queue: a mistyped address, or one for other queue nodes. It has an
// operator of its own and no services. So in the end it is rolled back.

const elsewhereAt = "/elsewhere"

const keptRoot = "/mrtq-handed-over"

type kept map[string]string

func (k kept) has(key string) bool {
	for _, data := range k {
		if keyOf("mrtQ-05000000000001", []byte(data)) == key {
			return true
		}
	}
	return false
}

func folders(tree *znode.Tree, chroot string) (names []string) {
	for _, run := range tree.Children(chroot + "/migration/runs") {
		var record struct{ Origin struct{ Kept string } }
		if json.Unmarshal(tree.Get(chroot+"/migration/runs/"+run).Data, &record) == nil && record.Origin.Kept != "" {
			names = append(names, record.Origin.Kept)
		}
	}
	return names
}

func keptBelow(tree *znode.Tree, chroot string) kept {
	all := kept{}
	for _, folder := range folders(tree, chroot) {
		for _, name := range tree.Children(keptRoot + "/" + folder) {
			path := keptRoot + "/" + folder + "/" + name
			all[path] = string(tree.Get(path).Data)
		}
	}
	return all
}

func (k kept) same(other kept) bool {
	return len(k) == len(other) && !slices.ContainsFunc(slices.Collect(maps.Keys(k)), func(path string) bool { return k[path] != other[path] })
}

// oneTarget fails if the work of a record can run in two targets, or if anybody but its own operator has changed what the other target keeps.
func (e *explored) oneTarget() {
	tree := e.tree()
	if tree.Get(elsewhereAt) == nil {
		return
	}
	if now := keptBelow(tree, elsewhereAt); !now.same(e.otherKept) {
		e.failf("kept bytes of another target", "now %v, before %v", slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(e.otherKept)))
	}
	here := map[string]seenJob{}
	for _, j := range jobsBelow(tree, "") {
		here[j.path+j.key] = j
	}
	for job, other := range jobsBelow(tree, elsewhereAt) {
		if j, both := here[other.path+other.key]; both && !other.held && !j.held && !e.loose[j.path] && !slices.Contains([]string{"completed", "deleted"}, j.state) {
			e.failf("a record can run in two targets", "%s is %s, and its job here is %s", job, other.state, j.state)
		}
	}
}

// other is a command of the other target's operator, who withdraws what somebody else has taken.
func (e *explored) other(what string) error {
	w, from := e.open(elsewhereAt, e.zk.Dial), e.open("", e.zk.Dial)
	defer w.Close()
	defer from.Close()
	before := keptBelow(e.tree(), "")
	decisions := migrate.Decisions{RecordIs: map[string]migration.Answer{}, Vanished: migration.AnswerLegacy, Save: func([]znode.Node) error { return nil }}
	var undecided []migration.Note
	try := func() (err error) {
		switch what {
		case "migrate":
			src, err := e.legacyQueue(e.ctx, from, e.night.others...)
			if err != nil {
				return err
			}
			opt := migrate.MigrateOptions{PlanOptions: migration.PlanOptions{Dialect: e.dialect, Choices: e.choices, NewQueue: true}}
			_, err = migrate.Migrate(e.ctx, src, w, opt)
			return err
		case "release":
			res, err := migrate.Release(e.ctx, w, migrate.ReleaseOptions{Decisions: decisions})
			if res != nil {
				undecided = res.Undecided
			}
			return err
		case "rollback":
			undo, err := migrate.Rollback(e.ctx, w, migrate.RollbackOptions{Decisions: decisions})
			if undo != nil {
				undecided = undo.Undecided
			}
			return err
		}
		return func() error { _, err := migrate.Complete(e.ctx, w, migrate.CompleteOptions{}); return err }()
	}
	err := try()
	for _, u := range undecided {
		decisions.RecordIs[u.Record] = migration.AnswerLegacy
	}
	if errors.Is(err, migrate.ErrUndecided) {
		err = try()
	}
	e.say("  another target: %s: %v", what, err)
	if err != nil && !known(err) {
		e.failf("a command failed without a reason", "another target, %s: %v", what, err)
	}
	tree := e.tree()
	if now := keptBelow(tree, ""); !now.same(before) {
		e.failf("kept bytes of this target", "%s of another: now %v, before %v", what, slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(before)))
	}
	e.otherKept = keptBelow(tree, elsewhereAt)
	if what == "complete" && err == nil { // nobody works there, and nothing comes back
		for _, j := range jobsBelow(tree, elsewhereAt) {
			e.mayBeLost(j.key)
		}
	}
	return err
}

func (e *explored) otherHas(key string) bool {
	if e.otherKept.has(key) {
		return true
	}
	for _, j := range jobsBelow(e.tree(), elsewhereAt) {
		if j.key == key && !j.held {
			return true
		}
	}
	return false
}

// otherEnds rolls the other target back, run by run, and completes it. Then nothing of it is left but what can't be given back.
func (e *explored) otherEnds() {
	if there, _, _ := e.conn.Exists(elsewhereAt + newqueue.JobsPath); !there {
		return
	}
	for range most {
		err := e.other("rollback")
		if errors.Is(err, migrate.ErrNoRun) || errors.Is(err, migrate.ErrCompleted) {
			break
		}
		if err != nil {
			e.makeQueues()
			e.legacyDry()
		}
	}
	e.other("complete")
}

// removeKept removes all kept bytes. What the other target had taken is lost with them, because nobody works there.
func (e *explored) removeKept() {
	for _, data := range keptBelow(e.tree(), elsewhereAt) {
		e.mayBeLost(keyOf("mrtQ-05000000000001", []byte(data)))
	}
	e.removeAll(keptRoot)
	e.otherKept = kept{}
}

// onlyOwnFolders fails if a folder is left that no run of this target has.
func (e *explored) onlyOwnFolders() {
	tree := e.tree()
	own := folders(tree, "")
	for _, name := range tree.Children(keptRoot) {
		if !slices.Contains(own, name) && !strings.HasPrefix(string(tree.Get(keptRoot+"/"+name).Data), elsewhereAt) {
			e.failf("a folder is left", "%s", name)
		}
	}
	if left := keptBelow(tree, elsewhereAt); len(left) > 0 {
		e.failf("kept bytes are left", "%v", slices.Sorted(maps.Keys(left)))
	}
}
