package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/internal/verify"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// FindResult is one legacy record and its job or access request.
type FindResult struct {
	Path   string            // of the record, as the ledger has it if it was migrated; "" for a job that no migration created
	Record *migration.Record // as the legacy queue has it, perhaps under another name, or as it was handed over; nil if neither is there
	// Run migrated the record; "" if no run did. Standing is how it stands now; "" if nothing is known of it.
	Run           string
	Standing      Standing
	Reason        string             // why the record was not migrated; "" if it was, or is not there
	OtherEnsemble bool               // the legacy queue is in another ensemble, so it was not read
	Job           string             // path of the job or request; "" if there was none
	Nodes         []znode.Node       // of the job or request and its entries; none if it was removed
	NoQueue       *migration.NoQueue // what is at the target instead of a new queue; nil if there is one
	State         string             // of the job or request
	// Notices are what an operator should know about the job before a service works on it.
	Notices []Notice
}

// Find finds a record by its path, its name, its jobID or its token, or a job or request by its path or id.
// Records of a legacy queue in another ensemble are found in the ledger alone. The error wraps [ErrNotFound],
// [ErrAmbiguousID] or [ErrDamaged], or comes from reading. With [ErrNotFound], the item has what
// is at the target instead of a new queue.
func Find(ctx context.Context, dst *Reader, name string) (*FindResult, error) {
	t, err := readWhole(ctx, dst)
	if err != nil {
		return nil, err
	}
	src, err := originOf(ctx, t)
	if err != nil && !errors.Is(err, ErrTwoEnsembles) {
		return nil, err
	}
	if src == nil {
		src = source.Empty(dst)
	}
	f := finder{src: src, t: t, item: &FindResult{OtherEnsemble: err != nil}}
	if !t.HasQueue() {
		if f.item.NoQueue, err = target.ReadNoQueue(ctx, dst); err != nil {
			return nil, err
		}
	}
	err = f.find(ctx, name)
	if newest := t.Ledger.Newest(); newest != nil {
		f.item.Notices = noticesAbout(f.item, newest.Dialect)
	}
	if err == nil && f.item.Record == nil && f.item.Run == "" && len(f.item.Nodes) == 0 {
		err = ErrNotFound
	}
	if errors.Is(err, ErrNotFound) {
		why := "it was finished and cleaned up, deleted, or mistyped"
		if t.Ledger.Knows(name) {
			why = "it was migrated, its work went back to the legacy queue, and there it was finished or deleted"
		}
		err = fmt.Errorf("%s: %w: %s", name, ErrNotFound, why)
	}
	return f.item, err
}

type finder struct {
	src  *Source
	t    *target.Target
	item *FindResult
}

func (f *finder) find(ctx context.Context, name string) (err error) {
	f.item.Path, f.item.Job, err = f.locate(ctx, name)
	if err != nil {
		return err
	}
	var read source.Fetched // what has the record's name now
	if f.item.Job == "" && f.src.Kind(f.item.Path) != "" {
		if read, err = only(f.src.Fetch(ctx, slices.Values([]string{f.item.Path}))); err != nil {
			return err
		}
	}
	e, err := f.lookUp(ctx, read)
	if err != nil {
		return err
	}
	if e != nil {
		f.item.Path, f.item.Job, f.item.Run = e.Record, e.Job, f.t.Ledger.Runs[e.Run].ID
	}
	if f.item.Job != "" {
		if err := f.readJob(ctx); err != nil {
			return err
		}
	}
	switch {
	case f.item.Path == "" || f.src.Kind(f.item.Path) == "":
		return nil
	case e == nil:
		f.notMigrated(read)
		return nil
	}
	return f.readRecord(ctx, e)
}

// lookUp finds the entry of the job, or of the record that has the path, or that had it and was not handed over; nil if there is none.
func (f *finder) lookUp(ctx context.Context, read source.Fetched) (*ledger.Migrated, error) {
	if f.item.Job != "" {
		for e := range f.t.Ledger.All() {
			if e.Job == f.item.Job {
				return e, nil
			}
		}
		return nil, nil
	}
	e := f.t.Ledger.Find(f.item.Path)
	if !read.There || f.isOf(e, read) {
		return e, nil
	}
	if e := standing.EntryOf(f.t.Ledger, read); e != nil {
		return e, nil
	}
	renames, err := standing.FindRenames(ctx, f.t, f.src)
	if from := renames.From(f.item.Path); from != "" {
		return f.t.Ledger.Find(from), nil
	}
	if e != nil && e.HandedOver {
		e = nil
	}
	return e, err
}

func (f *finder) isOf(e *ledger.Migrated, read source.Fetched) bool {
	return e != nil && !standing.FactsOf(e, &f.t.Ledger.Runs[e.Run], read, f.src.Czxids()).Another
}

func (f *finder) readRecord(ctx context.Context, e *ledger.Migrated) error {
	var record source.Fetched
	look := &standing.Reader{Target: f.t, Names: &target.Names{}, Src: f.src, Decide: standing.DecideRelease, MayBeUnknown: true}
	for c, err := range look.All(ctx, []*ledger.Migrated{e}) {
		if err != nil {
			return err
		}
		f.item.Standing, record = c.Word(), c.RecordRead
	}
	if !record.There && e.Kept {
		var err error
		at := f.t.Ledger.Runs[e.Run].KeptPath(e.Job)
		if record, err = only(f.src.FetchKept(ctx, slices.Values([]string{at}), map[string]string{at: e.Record})); err != nil {
			return err
		}
	}
	if record.There {
		f.item.Record = &record.Record
	}
	return nil
}

func (f *finder) notMigrated(read source.Fetched) {
	if !read.There {
		return
	}
	f.item.Record, f.item.Standing = &read.Record, standing.NotMigrated
	if read.Err != nil && read.Err.Kind == migration.Unreadable {
		f.item.Standing = standing.Unknown
	}
	if run := f.t.Ledger.Current(); run != nil {
		_, f.item.Reason = verify.OutcomeOf(run, rules.Decide(read.Record, run.Choices))
		open := "it came after " + run.ID + " began, or a legacy worker had it then, and another run would migrate it"
		if run.State == migration.RunRolledBack {
			open = run.ID + " was rolled back, so the legacy queue has its work"
		}
		f.item.Reason = cmp.Or(f.item.Reason, open)
	}
}

func only(records iter.Seq2[source.Fetched, error]) (record source.Fetched, err error) {
	for record, err = range records {
		break
	}
	return record, err
}

func (f *finder) locate(ctx context.Context, name string) (record, job string, err error) {
	if strings.HasPrefix(name, "/") {
		if znode.ValidatePath(name) != nil || name == "/" {
			return "", "", ErrNotFound
		}
		if f.src.Kind(name) != "" {
			return name, "", nil
		}
		return "", itemAt(name), nil
	}
	if _, ok := newqueue.ParseSequenceID(newqueue.JobPrefix, name); ok {
		return "", newqueue.JobPath(name), nil
	}
	if _, ok := newqueue.ParseSequenceID(newqueue.AccessPrefix, name); ok {
		return f.locateRequest(ctx, name)
	}
	for _, n := range f.src.Nodes {
		if path := znode.Join(n.Path, name); znode.ValidatePath(path) == nil && f.src.Has(path) {
			return path, "", nil
		}
	}
	for e := range f.t.Ledger.All() {
		if znode.Name(e.Record) == name {
			return e.Record, "", nil
		}
	}
	return f.byPayload(ctx, name)
}

// byPayload finds the record whose payload has a jobID or token, in the legacy queue or among the bytes of those that
// were handed over, and its job, if it has one. The error wraps [ErrNotFound] or [ErrAmbiguousID].
func (f *finder) byPayload(ctx context.Context, id string) (record, job string, err error) {
	has := func(r source.Fetched) bool {
		return r.There && r.Err == nil && (r.Legacy.Payload["jobID"] == id || r.Legacy.Payload["token"] == id)
	}
	var kept []*ledger.Migrated
	var at []string
	records := map[string]string{}
	for e := range f.t.Ledger.All() {
		if run := f.t.Ledger.Runs[e.Run]; e.Kept && run.Completed.IsZero() {
			path := run.KeptPath(e.Job)
			kept, at, records[path] = append(kept, e), append(at, path), e.Record
		}
	}
	found := map[string]string{} // the job of each record that was handed over; "" of one that is in the legacy queue
	for r, err := range f.src.FetchKept(ctx, slices.Values(at), records) {
		if err != nil {
			return "", "", err
		}
		if has(r) {
			found[r.Path] = kept[0].Job
		}
		kept = kept[1:]
	}
	for r, err := range f.src.Fetch(ctx, f.src.Paths()) {
		if err != nil {
			return "", "", err
		}
		if has(r) {
			found[r.Path] = ""
		}
	}
	paths := slices.Sorted(maps.Keys(found))
	switch n := len(paths); n {
	case 0:
		return "", "", ErrNotFound
	case 1:
		return paths[0], found[paths[0]], nil
	default:
		const most = 10
		return "", "", fmt.Errorf("%s: %w: %s", id, ErrAmbiguousID, strings.Join(paths[:min(n, most)], ", "))
	}
}

func itemAt(path string) string {
	for at := path; at != "/"; at = znode.Parent(at) {
		if parent := znode.Parent(at); parent == newqueue.JobsPath || znode.Parent(parent) == newqueue.AccessPath {
			return at
		}
	}
	return path
}

func (f *finder) locateRequest(ctx context.Context, qid string) (record, job string, err error) {
	var paths []string
	for _, q := range newqueue.AccessQueues {
		paths = append(paths, newqueue.AccessRequestPath(q, qid))
	}
	nodes, err := f.t.Reader.GetAll(ctx, paths)
	switch {
	case err != nil:
		return "", "", err
	case len(nodes) > 1:
		return "", "", fmt.Errorf("%s: %w: %s", qid, ErrAmbiguousID, strings.Join(paths, ", "))
	case len(nodes) == 1:
		return "", nodes[0].Path, nil
	}
	for e := range f.t.Ledger.All() {
		if slices.Contains(paths, e.Job) {
			return e.Record, e.Job, nil
		}
	}
	return "", "", ErrNotFound
}

func (f *finder) readJob(ctx context.Context) error {
	for sub, err := range f.t.Reader.MarkUnreadable().Subtrees(ctx, slices.Values([]string{f.item.Job})) {
		if err != nil {
			return err
		}
		f.item.Nodes = sub.Nodes
	}
	if len(f.item.Nodes) == 0 {
		return nil
	}
	var bid string
	for _, n := range f.item.Nodes {
		switch n.Path {
		case f.item.Job + "/status":
			f.item.State = stateIn(n.Data)
		case f.item.Job + "/bid":
			bid = string(n.Data)
		}
	}
	return f.readEntries(ctx, bid)
}

func (f *finder) readEntries(ctx context.Context, bid string) error {
	jid := znode.Name(f.item.Job)
	if znode.Parent(f.item.Job) != newqueue.JobsPath {
		return nil
	}
	nodes, err := f.t.Reader.GetAll(ctx, target.AllEntries(bid, jid))
	f.item.Nodes = append(f.item.Nodes, nodes...)
	return err
}

// noticesAbout are what an operator should know about the job of an item before a service
// works on it (docs/deployed-services.md). There are none in dialect design.
func noticesAbout(it *FindResult, d newqueue.Dialect) []services.Notice {
	if d != newqueue.MrtZK || !strings.HasPrefix(it.Job, newqueue.JobsPath+"/") {
		return nil
	}
	job, priority := services.Item{Path: it.Job, Objects: map[string]newqueue.Object{}}, 0
	for _, n := range it.Nodes {
		switch name, _ := strings.CutPrefix(n.Path, it.Job+"/"); name {
		case "priority":
			priority, _ = strconv.Atoi(string(n.Data)) // 0 if it is damaged, which check names
		case "status", "configuration", "identifiers":
			job.Objects[name], _ = newqueue.ParseObject(n.Data)
		}
	}
	consumed := it.Record != nil && it.Record.Err == nil && it.Record.Legacy.Header.Status == legacy.Consumed
	return services.JobNotices(job, priority, consumed)
}
