package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// survey is what a plan needs to know of a target: a listing, the migrated jobs as rows,
// and what the batches hold. It reads the target once.
type survey struct {
	*listing
	pin             Pin
	uuids           map[string]string // BIDs, by the paths of the entries of /batch-uuids
	existingBatches []existingBatch   // in the order of the batches' ids
	lists           map[string]listLength
	// highest is the highest number that a child has, by parent.
	highest map[string]int64
	// removals are the operations that remove jobs which nobody touched but which have no
	// [shape].
	removals map[ref][]znode.Op

	call    surveyCalls
	content nameHash
	zxid    int64
	hashes  map[string]hash.Hash // digests of everything outside of the skeleton
	at      map[ref]int32        // indexes into existingBatches, by BID
}

// surveyCalls has functions that a survey calls while it reads. Either may be nil.
type surveyCalls struct {
	// node is called with every znode outside of the skeleton.
	node func(n *znode.Node)
	// job is called with each job and request that claims a record. Its znodes and entries
	// are in ex's tree. why is what [existing.whyTouched] returns. An error ends the survey.
	job func(t *survey, ex *existing, p migratedJob, why string) error
}

// existingBatch is a batch of the target.
type existingBatch struct {
	bid   ref
	czxid int64     // the transaction that created it
	kind  batchKind // "" if no migration created it
	run   string    // the run that created it
	nodes nodeSet   // which of a batch's znodes are there
	sums  [3]uint64 // hashes of the first three of batchNodeNames
	// changed says which znodes of batchWorked show that another client has worked on it.
	changed [4]bool
	touched bool // another client has changed it
	// entries are the lengths of its folders, in the order of [newqueue.BatchFolders].
	entries [4]listLength
}

// batchWorked are the znodes of a batch that show whether another client worked on it.
var batchWorked = [4]string{"submission", "status", "status-report", "lock"}

// surveyTarget reads a target.
func surveyTarget(ctx context.Context, s side.Side, name string, call surveyCalls) (*survey, error) {
	l, err := openListing(ctx, s)
	if err != nil {
		return nil, err
	}
	t := &survey{
		listing: l, call: call, content: newNameHash(), uuids: map[string]string{}, lists: map[string]listLength{}, highest: map[string]int64{},
		removals: map[ref][]znode.Op{}, hashes: map[string]hash.Hash{}, at: map[ref]int32{},
	}
	l.onNode = t.lookAt
	if err := l.list(ctx, nil); err != nil {
		return nil, err
	}
	for n, err := range s.Walk(ctx, newqueue.BatchUUIDsPath) {
		if err != nil {
			return nil, err
		}
		t.lookAt(&n)
		if znode.Parent(n.Path) == newqueue.BatchUUIDsPath {
			t.uuids[strings.Clone(n.Path)] = string(n.Data)
		}
	}
	if err := t.readJobs(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(t.existingBatches, func(a, b existingBatch) int { return t.names.compare(a.bid, b.bid) })
	t.at = nil
	for root := range l.allRoots() {
		t.count(root)
	}
	if t.tree.Get(newqueue.JobStatesPath) != nil {
		t.count(newqueue.JobStatesPath)
	}
	t.setPin(name)
	return t, nil
}

// forget drops what only the reading needed.
func (t *survey) forget() {
	t.roots, t.queued.rows, t.inBatch.rows, t.listing.batches = nil, nil, nil, nil
}

// lookAt looks at a znode outside of the jobs and requests.
func (t *survey) lookAt(n *znode.Node) {
	t.hash(n)
	at := strings.Split(n.Path, "/")[1:]
	switch {
	case "/"+at[0] == newqueue.JobsPath && (len(at) == 3 || len(at) == 4):
		t.count(n.Path)
	case len(at) == 5 && isEntry(at[1:]):
		if i, there := t.at[t.names.ref(at[1])]; there {
			t.existingBatches[i].entries[slices.Index(newqueue.BatchFolders, newqueue.BatchFolder(at[3]))].add(at[4])
		}
	case len(at) < 2 || "/"+at[0] != newqueue.BatchesPath:
	default:
		t.batchNode(at[1], strings.Join(at[2:], "/"), n)
	}
	if t.call.node != nil {
		t.call.node(n)
	}
}

// batchNode notes one of a batch's own znodes. name is its path below the batch. They come
// in path order.
func (t *survey) batchNode(bid, name string, n *znode.Node) {
	r := t.names.ref(bid)
	if name == "" {
		t.count(n.Path)
		b := existingBatch{bid: r, czxid: n.Stat.Czxid}
		if prov, ok := parseBatchProvenance(n.Data); ok {
			b.kind, b.run = prov.Of, prov.Run
		}
		t.at[r] = int32(len(t.existingBatches))
		t.existingBatches = append(t.existingBatches, b)
	}
	i, there := t.at[r]
	if !there {
		return // it was created after its parent was read
	}
	b := &t.existingBatches[i]
	b.touched = b.touched || t.whyBatchTouched(bid, n) != ""
	if i := slices.Index(batchNodeNames, name); i >= 0 {
		b.nodes |= 1 << i
		if i < len(b.sums) {
			b.sums[i] = t.contentSum(n.Data)
		}
	}
	if i := slices.Index(batchWorked[:], name); i >= 0 {
		b.changed[i] = n.Stat.Version != 0 || n.Stat.NumChildren != 0 || name == "lock"
	}
}

// contentSum is a hash of data; 0 for null.
func (t *survey) contentSum(data []byte) uint64 {
	if data == nil {
		return 0
	}
	return t.content.of(string(data)) | 1
}

// count adds a child to its parent's list.
func (t *survey) count(path string) {
	parent, name := znode.Parent(path), znode.Name(path)
	l := t.lists[parent]
	l.add(name)
	t.lists[parent] = l
	if c, _, ok := numberedChild(parent, name); ok {
		if h, there := t.highest[parent]; !there || c > h {
			t.highest[parent] = c
		}
	}
}

// numberedChild is the number of a job, a batch or an access request.
func numberedChild(parent, name string) (n int64, prefix string, ok bool) {
	switch parent {
	case newqueue.JobsPath:
		prefix = newqueue.JobPrefix
	case newqueue.BatchesPath:
		prefix = newqueue.BatchPrefix
	case newqueue.AccessQueuePath(newqueue.AccessSmall), newqueue.AccessQueuePath(newqueue.AccessLarge):
		prefix = newqueue.AccessPrefix
	default:
		return 0, "", false
	}
	seq, ok := newqueue.ParseSequenceID(prefix, name)
	return int64(seq), prefix, ok
}

// readJobs reads the jobs and requests.
func (t *survey) readJobs(ctx context.Context) error {
	claims := newJobRows(t.names)
	var known []migratedJob
	report, done := phases(ctx), 0
	report(ReadingJobs, 0, len(t.roots))
	wanted := func(sub side.Subtree) bool {
		for i := range sub.Nodes {
			t.hash(&sub.Nodes[i])
			if t.call.node != nil {
				t.call.node(&sub.Nodes[i])
			}
		}
		p, claimed := claimOf(sub)
		if claimed {
			known = append(known, p.migratedJob)
		}
		return claimed
	}
	for part, err := range t.jobParts(ctx, t.allRoots(), wanted) {
		if err != nil {
			return err
		}
		ex := *t.existing
		ex.tree = part.tree
		for _, p := range known {
			why := ex.whyTouched(p)
			claims.add(p)
			t.noteShape(&ex, p, why, &claims)
			if t.call.job != nil {
				if err := t.call.job(t, &ex, p, why); err != nil {
					return err
				}
			}
		}
		known = known[:0]
		done += len(part.roots)
		report(ReadingJobs, done, len(t.roots))
	}
	t.chooseJobs(claims)
	t.checkUnrecorded()
	return nil
}

// noteShape notes a job's shape, and whether it was touched.
func (t *survey) noteShape(ex *existing, p migratedJob, why string, claims *jobRows) {
	row := &claims.rows[len(claims.rows)-1]
	row.czxid, row.touched = ex.tree.Get(p.root).Stat.Czxid, why != ""
	if row.touched {
		return
	}
	var ok bool
	if row.shape, ok = claims.shapeOf(ex, p); !ok {
		t.removals[row.root] = ex.removal(p)
	}
}

// hash adds a znode to the digest of the subtree that it is in.
func (t *survey) hash(n *znode.Node) {
	t.zxid = max(t.zxid, n.Stat.Czxid, n.Stat.Mzxid, n.Stat.Pzxid)
	top := n.Path
	switch {
	case znode.Within(top, newqueue.JobStatesPath):
		top = newqueue.JobStatesPath
	default:
		if i := strings.IndexByte(top[1:], '/'); i >= 0 {
			top = top[:1+i]
		}
	}
	h := t.hashes[top]
	if h == nil {
		h = sha256.New()
		t.hashes[top] = h
	}
	n.HashTo(h)
}

// setPin makes the target's [Pin] from the digests. It also covers the root's own list of
// children. So a plan for an empty target is stale even if something was created there and
// removed again.
func (t *survey) setPin(name string) {
	h := sha256.New()
	fmt.Fprintf(h, "%x\n", t.tree.Hash(pinnedRoots...))
	for _, top := range []string{newqueue.BatchesPath, newqueue.BatchUUIDsPath, newqueue.JobStatesPath, newqueue.JobsPath, newqueue.AccessPath} {
		if part := t.hashes[top]; part != nil {
			fmt.Fprintf(h, "%s %x\n", top, part.Sum(nil))
		}
	}
	s := t.tree.Get("/").Stat
	fmt.Fprintln(h, s.Cversion, s.Pzxid)
	t.pin = Pin{Name: name, Zxid: max(t.zxid, t.tree.Zxid()), Hash: hex.EncodeToString(h.Sum(nil))}
}

// batchAt is what the target has of a batch; nil if the batch is not there.
func (t *survey) batchAt(bid string) *existingBatch {
	r, known := t.names.find(bid)
	if !known {
		return nil
	}
	i, there := slices.BinarySearchFunc(t.existingBatches, r, func(b existingBatch, r ref) int { return t.names.compare(b.bid, r) })
	if !there {
		return nil
	}
	return &t.existingBatches[i]
}

// has reports whether the batch has the znode of that name.
func (b *existingBatch) has(name string) bool {
	i := slices.Index(batchNodeNames, name)
	return b != nil && i >= 0 && b.nodes&(1<<i) != 0
}

// hasData reports whether the batch has the znode of that name with that data.
func (t *survey) hasData(b *existingBatch, name string, data []byte) bool {
	i := slices.Index(batchNodeNames, name)
	return b.has(name) && b.sums[i] == t.contentSum(data)
}

// whyGone says what happened to a migrated record's job; see [custodyEntry.whyGone].
func (t *survey) whyGone(h custodyEntry) string { return h.whyGone(t.batchAt(h.bid) != nil) }

// removal are the operations that remove a job that nobody touched.
func (t *survey) removal(row jobRow) []znode.Op {
	if ops, odd := t.removals[row.root]; odd {
		return ops
	}
	return t.jobs.removal(row)
}

// readWhyTouched reads a touched job again and says how another client changed it.
func (t *survey) readWhyTouched(ctx context.Context, old migratedJob) (why string, err error) {
	root := func(yield func(string) bool) { yield(old.root) }
	all := func(side.Subtree) bool { return true }
	for part, err := range t.jobParts(ctx, root, all) {
		if err != nil {
			return "", err
		}
		if part.tree.Get(old.root) != nil {
			ex := *t.existing
			ex.tree = part.tree
			return ex.whyTouched(old), nil
		}
	}
	return old.root + " is gone", nil
}
