package migrate_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// tampering is what somebody does by hand to a migrated queue that is held, and what verify
// says then.
type tampering struct {
	kind, path string
	do         func(s *site)
	want       string
}

// What verify says.
const (
	damage   = "damage"   // of the job or batch
	acted    = "acted-on" // but no damage
	asks     = "asks"     // somebody must decide, because a job is gone
	named    = "named"    // one of the three
	released = "released" // the queue counts as released
	restored = "restored"
	broken   = "broken" // the migration's own records can't be used
	nothing  = "nothing"
)

// zones are the kinds of znodes, with what verify says of each kind of change; "" is a change
// that is not tried. A znode that was made again as it was is no difference in a batch, in
// the layout and in the ledger: only a job's znodes must come from one transaction. No reader
// looks at the data of folders.
var zones = map[string]map[string]string{
	"job":         {"data": acted, "null": acted, "touched": acted, "deleted": named, "recreated": acted, "child": damage, "ephemeral": "", "acl": damage},
	"job part":    {"data": named, "null": named, "touched": acted, "deleted": named, "recreated": acted, "child": damage, "ephemeral": damage, "acl": damage},
	"entry":       {"data": acted, "null": acted, "touched": acted, "deleted": damage, "recreated": acted, "child": damage, "ephemeral": damage, "acl": damage},
	"batch":       {"data": acted, "null": acted, "touched": acted, "deleted": damage, "recreated": acted, "child": damage, "ephemeral": "", "acl": damage},
	"batch part":  {"data": named, "null": named, "touched": acted, "deleted": named, "recreated": nothing, "child": damage, "ephemeral": damage, "acl": damage},
	"folder":      {"data": nothing, "null": nothing, "touched": nothing, "deleted": damage, "recreated": acted, "child": damage, "ephemeral": "", "acl": damage},
	"empty":       {"data": nothing, "null": nothing, "touched": nothing, "deleted": named, "recreated": nothing, "child": damage, "ephemeral": damage, "acl": damage},
	"layout":      {"data": nothing, "null": nothing, "touched": nothing, "deleted": named, "recreated": acted, "child": damage, "ephemeral": "", "acl": damage},
	"jobs":        {"data": damage, "null": damage, "touched": nothing, "deleted": named, "recreated": acted, "child": damage, "ephemeral": "", "acl": damage},
	"names":       {"data": nothing, "null": nothing, "touched": nothing, "deleted": named, "recreated": nothing, "child": nothing, "ephemeral": "", "acl": damage},
	"locks":       {"data": nothing, "null": nothing, "touched": nothing, "deleted": released, "recreated": nothing, "child": damage, "ephemeral": "", "acl": damage},
	"spare":       {"data": nothing, "null": nothing, "touched": nothing, "deleted": nothing, "recreated": nothing, "child": nothing, "ephemeral": "", "acl": nothing},
	"state":       {"data": nothing, "null": nothing, "touched": nothing, "deleted": nothing, "recreated": nothing, "child": damage, "ephemeral": "", "acl": damage},
	"hold":        {"data": released, "null": released, "touched": nothing, "deleted": released, "recreated": nothing, "child": nothing, "ephemeral": "", "acl": damage},
	"run":         {"data": broken, "null": broken, "touched": restored, "deleted": broken, "recreated": restored, "child": nothing, "ephemeral": broken, "acl": damage},
	"ledger":      {"data": broken, "null": broken, "touched": nothing, "deleted": broken, "recreated": nothing, "child": nothing, "ephemeral": broken, "acl": nothing},
	"ledger path": {"data": nothing, "null": nothing, "touched": nothing, "deleted": broken, "recreated": nothing, "child": nothing, "ephemeral": "", "acl": damage},
	"ledger part": {"data": nothing, "null": nothing, "touched": nothing, "deleted": broken, "recreated": nothing, "child": nothing, "ephemeral": "", "acl": nothing},
	"runs":        {"data": nothing, "null": nothing, "touched": nothing, "deleted": broken, "recreated": restored, "child": nothing, "ephemeral": "", "acl": damage},
}

func zone(tree *znode.Tree, path string) string {
	part := strings.Split(path, "/")[1:]
	leaf := len(tree.Children(path)) == 0
	switch top := part[0]; {
	case path == "/migration" || path == "/migration/runs":
		return "runs"
	case path == "/migration/election":
		return "spare"
	case part[0] == "migration" && part[1] == "runs":
		return "run"
	case part[0] == "migration" && leaf:
		return "ledger"
	case part[0] == "migration" && len(part) > 2:
		return "ledger part"
	case part[0] == "migration":
		return "ledger path"
	case top == "locks" && len(part) == 3 && part[1] == "queue" && part[2] != "localid":
		return "hold"
	case path == "/locks" || path == "/locks/queue":
		return "locks"
	case top == "locks":
		return "spare"
	case top == "batch-uuids" && len(part) == 2:
		return "batch part"
	case top == "batches" && len(part) == 2:
		return "batch"
	case top == "batches" && len(part) == 4:
		return map[bool]string{true: "empty", false: "folder"}[leaf]
	case top == "batches" && len(part) == 3 && part[2] == "states":
		return "folder"
	case top == "batches" && len(part) == 3:
		return "batch part"
	case top == "jobs" && len(part) == 4 || top == "batches" && len(part) == 5:
		return "entry"
	case top == "jobs" && len(part) == 2 && part[1] != "states" || top == "access" && len(part) == 3:
		return "job"
	case top == "jobs" && len(part) == 3 && part[1] != "states" || top == "access" && len(part) == 4:
		return "job part"
	case path == "/jobs":
		return "jobs"
	case path == "/batch-uuids":
		return "names"
	case path == "/access/large" || path == "/access/small" || top == "jobs" && len(part) == 3:
		return map[bool]string{true: "state", false: "layout"}[leaf]
	}
	return "layout"
}

func changes(tree *znode.Tree, path string) []tampering {
	n := tree.Get(path)
	var subtree []*znode.Node
	for below := range tree.All(path) {
		subtree = append(subtree, below)
	}
	again := func(s *site) {
		s.remove(path)
		for _, n := range subtree {
			s.create(n.Path, n.Data)
		}
	}
	all := []tampering{
		{kind: "data", do: func(s *site) { s.set(path, []byte("by hand")) }},
		{kind: "null", do: func(s *site) { s.set(path, nil) }},
		{kind: "touched", do: func(s *site) { s.set(path, n.Data) }},
		{kind: "deleted", do: func(s *site) { s.remove(path) }},
		{kind: "recreated", do: again},
		{kind: "child", do: func(s *site) { s.create(znode.Join(path, "by-hand"), nil) }},
		{kind: "ephemeral", do: func(s *site) {
			s.remove(path)
			_, err := s.door().Create(path, n.Data, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			s.must(err)
		}},
		{kind: "acl", do: func(s *site) {
			_, err := s.door().SetACL(path, zk.WorldACL(zk.PermRead), -1)
			s.must(err)
		}},
	}
	of := zone(tree, path)
	for i := range all {
		all[i].path, all[i].want = path, zones[of][all[i].kind]
		if all[i].kind == "acl" && slices.Contains([]string{"layout", "jobs", "names", "locks", "state", "hold"}, of) && !madeByRun(tree, path) {
			all[i].want = nothing // services made it, with an ACL of theirs
		}
		if all[i].kind == "acl" && of == "spare" && (path == "/migration/election" || madeByRun(tree, path)) {
			all[i].want = damage
		}
		if all[i].kind == "deleted" && strings.HasPrefix(path, "/jobs/states/completed/") {
			all[i].want = named // in dialect design, the cleanup removes this entry first
		}
		if all[i].kind == "deleted" && inCompleted(tree, path) && (of == "batch" || strings.Contains(path, "/states/batch-completed")) {
			all[i].want = named // a cleanup that was killed leaves the jobs so
		}
	}
	return slices.DeleteFunc(all, func(c tampering) bool { return c.want == "" })
}

func madeByRun(tree *znode.Tree, path string) bool {
	return slices.ContainsFunc(tree.Children("/migration/runs"), func(run string) bool {
		return tree.Get("/migration/runs/"+run).Stat.Czxid == tree.Get(path).Stat.Czxid
	})
}

// inCompleted reports whether a znode is a completed batch, or below one.
func inCompleted(tree *znode.Tree, path string) bool {
	part := strings.Split(path, "/")
	return part[1] == "batches" && len(part) > 2 && strings.Contains(strings.ToLower(string(tree.Get("/batches/"+part[2]+"/status").Data)), `"completed"`)
}

// moves are changes of an entry's place, and znodes in places where none belongs.
func moves(tree *znode.Tree, d newqueue.Dialect) (all []tampering) {
	add := func(kind, path string, do func(s *site), want string) {
		all = append(all, tampering{kind: kind, path: path, do: do, want: want})
	}
	for n := range tree.All("/") {
		path := n.Path
		folder, name := znode.Parent(path), znode.Name(path)
		missing := damage
		if strings.Contains(folder, "completed") && d == newqueue.Design {
			missing = named // the published design's cleanup removes this entry first
		}
		switch z := zone(tree, path); {
		case z == "entry" && znode.Within(path, newqueue.JobStatesPath):
			other := newqueue.JobStatePath(newqueue.JobEstimating)
			add("entry moved to another state", path, func(s *site) { s.remove(path); s.ensure(other); s.create(other+"/"+name, nil) }, damage)
			add("entry with another priority", path, func(s *site) { s.remove(path); s.create(folder+"/"+"00"+name[2:], nil) }, damage)
			add("second entry in another state", other+"/"+name, func(s *site) { s.ensure(other); s.create(other+"/"+name, nil) }, damage)
			add("second entry with another priority", path, func(s *site) { s.create(folder+"/"+"00"+name[2:], nil) }, damage)
			add("entry of no job", folder, func(s *site) { s.create(folder+"/05-jid0000009999", nil) }, damage)
			add("entry with a space", path, func(s *site) { s.remove(path); s.create(path+" ", nil) }, missing)
		case z == "entry":
			bid := strings.Split(path, "/")[2]
			other := newqueue.BatchFolderPath(bid, newqueue.FolderDeleted)
			if other == folder {
				other = newqueue.BatchFolderPath(bid, newqueue.FolderFailed)
			}
			add("entry moved to another folder", path, func(s *site) { s.remove(path); s.ensure(other); s.create(other+"/"+name, nil) }, damage)
			add("second entry in another folder", path, func(s *site) { s.ensure(other); s.create(other+"/"+name, nil) }, damage)
			foreign := damage
			if inCompleted(tree, path) {
				foreign = nothing // the cleanup removes a completed batch's jobs before their entries
			}
			add("entry of no job in a batch", path, func(s *site) { s.create(folder+"/jid0000009999", nil) }, foreign)
		case z == "batch":
			add("foreign folder", path, func(s *site) { s.create(path+"/states/by-hand", nil) }, damage)
		case z == "job" && znode.Within(path, newqueue.JobsPath):
			add("names another batch", path, func(s *site) { s.set(path+"/bid", []byte("bid0000000099")) }, damage)
			add("another job's bytes", path, func(s *site) { s.set(path+"/configuration", []byte(`{"batch_id":"x"}`)) }, named)
			add("locked for ever", path, func(s *site) { s.create(path+"/lock", nil) }, named)
		}
	}
	add("foreign folder of a state", newqueue.JobStatesPath, func(s *site) { s.create("/jobs/states/by-hand", nil) }, damage)
	add("foreign access queue", newqueue.AccessPath, func(s *site) { s.create("/access/by-hand", nil) }, damage)
	return all
}

var tamperWorlds = map[string]func(t *testing.T, d newqueue.Dialect) *site{
	"one run": func(t *testing.T, d newqueue.Dialect) *site {
		s := serve(t, lifeQueue(t), d)
		s.mustMigrate(s.options())
		return s
	},
	"a second run in a queue in use": func(t *testing.T, d newqueue.Dialect) *site {
		s := serve(t, lifeQueue(t), d)
		s.must(s.queue().Init(t.Context()))
		bid, err := s.queue().CreateBatch(t.Context(), newqueue.Submission{BatchID: "bid-other", ProfileName: "p"})
		s.must(err)
		s.must(process(t, s.queue(), bid, "other"))
		s.mustMigrate(s.options())
		s.mustRollback(migrate.RollbackOptions{})
		s.create(ingest(901), record(t, legacy.Failed, job("a", "901")))
		s.create(ingest(902), record(t, legacy.Pending, job("new", "902")))
		s.mustMigrate(s.options())
		return s
	},
}

// others are znodes that no run created; the migration's records don't speak of them.
func (s *site) others(path string) bool {
	const bid, jid = "bid0000000000", "jid0000000001"
	return znode.Within(path, "/batches/"+bid) || znode.Within(path, "/jobs/"+jid) || strings.HasSuffix(path, "-"+jid) || path == "/batch-uuids/bid-other"
}

// sampled is a prime, so that the sample meets every kind at every kind of znode.
const sampled = 37

// Verify names every change that somebody makes by hand to a migrated queue that is held, and
// says which changes are damage. A sample is tried; all with -torture.
func TestTamperMatrix(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for name, build := range tamperWorlds {
		for _, d := range newqueue.Dialects {
			world := build(t, d)
			tree := world.tree()
			world.mustVerify()
			var cases []tampering
			for _, root := range append([]string{"/migration"}, queueRoots...) {
				for _, path := range tree.Paths(root) {
					if name == "one run" || !world.others(path) {
						cases = append(cases, changes(tree, path)...)
					}
				}
			}
			cases = append(cases, moves(tree, d)...)
			tryAll(t, tree, d, slices.DeleteFunc(cases, func(c tampering) bool { return name != "one run" && world.others(c.path) }), counts)
		}
	}
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%6d %s", counts[kind], kind)
		total += counts[kind]
	}
	t.Logf("%6d in all", total)
}

func tryAll(t *testing.T, tree *znode.Tree, d newqueue.Dialect, cases []tampering, counts map[string]int) {
	work := make(chan tampering)
	var workers sync.WaitGroup
	for range 24 { // verify looks again at what seems to be damage, so they wait most of the time
		workers.Go(func() {
			for c := range work {
				t.Run(fmt.Sprintf("%s/%s %s", d, c.kind, strings.ReplaceAll(c.path, "/", "_")), func(t *testing.T) {
					s := serve(t, tree, d)
					c.do(s)
					if got := s.judged(); !c.fits(got) {
						t.Errorf("verify says %s", got)
					}
				})
			}
		})
	}
	for i, c := range cases {
		if *torture || i%sampled == 0 || c.path == newqueue.JobsPath {
			counts[c.kind]++
			work <- c
		}
	}
	close(work)
	workers.Wait()
}

type judgement struct {
	said string
	v    *migration.Verdict
	err  error
}

func (j judgement) String() string {
	if j.err != nil {
		return j.said + ": " + j.err.Error()
	}
	return fmt.Sprintf("%s: %v, released %v", j.said, j.v.Differences, j.v.Released)
}

func (s *site) judged() judgement {
	s.t.Helper()
	v, err := migrate.Verify(s.t.Context(), nil, &s.w.Reader, migrate.VerifyOptions{})
	switch {
	case errors.Is(err, migrate.ErrDamaged):
		return judgement{broken, nil, err}
	case err != nil:
		s.t.Fatal(err)
	case v.Count("restored") > 0:
		return judgement{restored, v, nil}
	case v.CountGroup(migration.DamageGroup) > 0:
		return judgement{damage, v, nil}
	case v.Count("job-gone") > 0:
		return judgement{asks, v, nil}
	case v.Count("acted-on") > 0:
		return judgement{acted, v, nil}
	case len(v.Released) > 0:
		return judgement{released, v, nil}
	case v.OK():
		return judgement{nothing, v, nil}
	}
	return judgement{kinds(v), v, nil}
}

func (c tampering) fits(j judgement) bool {
	if j.said != c.want && (c.want != named || !slices.Contains([]string{damage, acted, asks}, j.said)) {
		return false
	}
	if j.err != nil {
		return strings.Contains(j.err.Error(), c.path) || zoneOf(c.path) == "/migration"
	}
	return j.said == nothing || j.said == released || slices.ContainsFunc(j.v.Differences, func(d migration.Difference) bool {
		return znode.Within(d.Path, c.path) || znode.Within(c.path, d.Path) || strings.Contains(d.Message, znode.Name(c.path)) || related(c.path, d.Path)
	})
}

func zoneOf(path string) string { return "/" + strings.Split(path, "/")[1] }

// related reports whether two paths are of the same job or batch: whether they share an id.
func related(a, b string) bool {
	ids := func(path string) (all []string) {
		for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '-' }) {
			for _, prefix := range []string{"jid", "bid", "qid"} {
				if _, ok := newqueue.ParseSequenceID(prefix, strings.TrimSpace(name)); ok {
					all = append(all, strings.TrimSpace(name))
				}
			}
		}
		return all
	}
	return slices.ContainsFunc(ids(a), func(id string) bool { return slices.Contains(ids(b), id) }) || strings.HasPrefix(a, "/batch-uuids") || zoneOf(a) == zoneOf(b) && len(ids(a)) == 0
}

// An ACL that somebody sets, and sets back, is no difference: not that of a job, nor of its entries, its batch or the layout.
func TestACLSetBack(t *testing.T) {
	t.Parallel()
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	job := s.jobOf(ingest(1))
	bid := string(s.data(job + "/bid"))
	paths := []string{job, job + "/status", "/jobs/states/pending/05-" + znode.Name(job), "/batches/" + bid, "/batches/" + bid + "/states/batch-processing/" + znode.Name(job),
		"/batches/" + bid + "/submission", "/batch-uuids/bid-0", "/jobs", "/jobs/states/pending", "/locks/queue/ingest", "/migration", "/migration/runs", "/migration/ledger"}
	for _, perms := range []int32{zk.PermRead | zk.PermAdmin, zk.PermAll} {
		for _, path := range paths {
			_, err := s.door().SetACL(path, zk.WorldACL(perms), -1)
			s.must(err)
		}
		said := map[string]bool{}
		for _, d := range s.verify().Differences {
			said[d.Path] = d.Kind == "other-acl" && strings.Contains(d.Message, "its ACL is")
		}
		if perms == zk.PermAll {
			s.mustVerify()
			continue
		}
		for _, path := range append([]string{paths[2], paths[3]}, paths[7:]...) { // one of a job, and one of a batch
			if !said[path] {
				t.Errorf("%s is not named: %v", path, said)
			}
		}
	}
}
