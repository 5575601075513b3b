package accept

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mrtq/harness/accept/library"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
)

// itemIs expects that an item is in another state: in its status, and if it is a job in that
// state's queue instead of the old one. Priority "" means the same as before.
func (w *world) itemIs(name, state, priority, message string) error {
	at, err := w.path(name)
	if err != nil {
		return err
	}
	kind, from := kindOf(at), w.stateOf(w.want, at)
	if priority != "" && kind != "job" {
		return fmt.Errorf("a %s has no priority", kind)
	}
	w.names[kind] = at // "its" in the next Thens means this item
	wrong := []error{
		w.done(),
		w.wantField(at+"/status", "status", w.state(state)),
		w.wantField(at+"/status", w.timeKey(kind), w.timeIn(at+"/status", w.timeKey(kind))),
		w.wantField(at+"/status", "message", w.message(message)),
	}
	if kind == "job" {
		before := priorityIn(w.before, at)
		now := before
		if priority != "" {
			now, _ = strconv.Atoi(priority)
			wrong = append(wrong, w.wantNode(at+"/priority", now))
		}
		wrong = append(wrong, w.wantGone(entry(from, before, at)), w.wantNode(entry(state, now, at), ""))
	}
	return errors.Join(wrong...)
}

func priorityIn(t *znode.Tree, at string) int {
	n := t.Get(at + "/priority")
	if n == nil {
		return -1
	}
	p, _ := strconv.Atoi(string(n.Data))
	return p
}

func (w *world) jobsAreCompleted(names string) error {
	var wrong []error
	for _, name := range strings.Fields(names) {
		wrong = append(wrong, w.itemIs("job "+name, "completed", "", ""), w.lastSuccessIs("notify", ""),
			w.batchEntryMoves("processing", "completed"), w.wantGone(w.names["job"]+"/lock"))
	}
	return errors.Join(wrong...)
}

func (w *world) lastSuccessIs(last, deployed string) error {
	if w.mrtZK() && deployed != "" {
		last = deployed
	}
	return w.wantField(w.names["job"]+"/status", "last_successful_status", w.state(last))
}

func (w *world) retriedOnceMore() error {
	at := w.names["job"] + "/status"
	before, _ := parse(w.before.Get(at).Data)["retry_count"].(float64)
	return w.wantField(at, "retry_count", int(before)+1)
}

func (w *world) batchEntryMoves(from, to string) error {
	states, jid := w.names["batch"]+"/states/batch-", path.Base(w.names["job"])
	return errors.Join(w.wantGone(states+from+"/"+jid), w.wantNode(states+to+"/"+jid, ""))
}

func (w *world) jobIsQueued(name, state string, priority int) error {
	at := w.names["job "+name]
	return errors.Join(w.done(), w.wantNode(at+"/priority", priority),
		w.wantGone(entry(state, priorityIn(w.before, at), at)), w.wantNode(entry(state, priority, at), ""))
}

func (w *world) created(folder string, items ...nodes) error {
	old, made := w.before.Children(folder), w.seen.Children(folder)
	made = slices.DeleteFunc(made, func(name string) bool { return name == "states" || slices.Contains(old, name) })
	if err := w.done(); err != nil {
		return err
	}
	if len(made) != len(items) || !slices.Equal(made, w.last.IDs) {
		return fmt.Errorf("the new items are %v, the answer is %v, expected %d", made, w.last.IDs, len(items))
	}
	var wrong []error
	for i, docs := range items {
		at := folder + "/" + made[i]
		status := w.status(kindOf(at), "pending", "", w.now)
		status[w.timeKey(kindOf(at))] = w.timeIn(at+"/status", w.timeKey(kindOf(at)))
		docs["status"] = status
		all := below(at, docs)
		if kindOf(at) == "job" {
			status["last_successful_status"], status["retry_count"] = nil, 0
			docs["configuration"].(object)["batch_id"] = path.Base(w.names["batch"])
			all = w.jobNodes(at, w.names["batch"], "pending", docs)
		}
		wrong = append(wrong, w.wantNodes(all))
	}
	return errors.Join(wrong...)
}

func (w *world) batchIsCreated() error {
	w.earlier = append(w.before.Children("/batches"), path.Base(w.names["batch"]))
	w.names["batch"] = "/batches/" + strings.Join(w.last.IDs, "")
	return w.created("/batches", nodes{"submission": w.submission(w.uuid)})
}

func (w *world) numberIsNew() error {
	if bid := path.Base(w.names["batch"]); bid <= slices.Max(w.earlier) {
		return fmt.Errorf("the batch is %s, but there were %v before", bid, w.earlier)
	}
	return nil
}

func (w *world) jobsAreFresh() error {
	var wrong []error
	for _, jid := range w.last.IDs {
		wrong = append(wrong,
			w.seenField("/jobs/"+jid+"/status", "last_successful_status", nil),
			w.seenField("/jobs/"+jid+"/status", "retry_count", 0))
	}
	return errors.Join(wrong...)
}

// batchIsProcessing expects that the batch becomes processing with its jobs. In mrt-zk it was acquired so.
func (w *world) batchIsProcessing() error {
	if w.mrtZK() {
		return w.done()
	}
	return errors.Join(w.itemIs("batch", "processing", "", ""), w.thereIsAFolder())
}

func (w *world) thereIsAFolder() error {
	return w.wantNode(w.names["batch"]+"/states/batch-processing", "")
}

func (w *world) areGone(kind, names, jobs string) error {
	var items []string
	if names == "" {
		at, err := w.path(kind)
		if err != nil {
			return err
		}
		items = append(items, at)
	}
	for _, name := range strings.Fields(names) {
		items = append(items, w.names[kind+" "+name])
	}
	for _, job := range strings.Fields(jobs) {
		items = append(items, w.names["job "+job])
	}
	wrong := []error{w.done()}
	for _, at := range items {
		wrong = append(wrong, w.wantGone(at))
		switch kindOf(at) {
		case "batch":
			wrong = append(wrong, w.wantGone("/batch-uuids/uuid-of-"+path.Base(at)))
		case "job":
			state := w.stateOf(w.before, at)
			wrong = append(wrong, w.wantGone(entry(state, usualPriority, at)), w.wantGone(batchEntry(w.names["batch"], state, at)))
		}
	}
	return errors.Join(wrong...)
}

// jobIsDeleted expects that the job's znodes are removed, or in mrt-zk that the job is
// marked as deleted (J21, J22).
func (w *world) jobIsDeleted(folder string) error {
	if !w.mrtZK() {
		return w.areGone("job", "", "")
	}
	return errors.Join(w.itemIs("job", "deleted", "", ""), w.batchEntryMoves(folder, "deleted"))
}

func (w *world) answerWarns(how string) error {
	if how == "has no warning" {
		return cmp.Or(w.done(), equal("the warnings", len(w.last.Warnings), 0))
	}
	if !w.last.able.Warnings() {
		w.lacks = "warnings"
		return errNotOffered
	}
	for _, text := range w.last.Warnings {
		if strings.Contains(text, "depositor") && strings.Contains(text, path.Base(w.subject())) {
			return nil
		}
	}
	return fmt.Errorf("the answer is %q", w.last.Warnings)
}

func (w *world) subject() string {
	for _, k := range kinds {
		if at, ok := w.names[k.noun]; ok {
			return at
		}
	}
	return ""
}

// reported compares two lists of the report. Its words end the Then, with what the lists have in dialect mrt-zk.
func (w *world) reported(one, word, other, otherWord, deployedOne, deployedOther string) error {
	r := w.last.Report
	if w.mrtZK() {
		one, other = cmp.Or(deployedOne, one), cmp.Or(deployedOther, other)
	}
	if r == nil {
		return errors.New("the answer has no report")
	}
	lists := map[string][]string{"newly completed": r.NewlyCompleted, "newly failed": r.NewlyFailed, "still failed": r.StillFailed, "resumed": r.Resumed}
	if !slices.Equal(lists[word], w.ids(one)) || !slices.Equal(lists[otherWord], w.ids(other)) {
		return fmt.Errorf("the report lists %v", lists)
	}
	return nil
}

func (w *world) thereIsToSend(what, deployed string) error {
	if w.mrtZK() {
		what = cmp.Or(deployed, what)
	}
	if w.last.Report == nil {
		return errors.New("the answer has no report")
	}
	return equal("the report has something new", w.last.Report.Changed, what == "something")
}

// workerHas expects the lock, and checks that the worker has acquired what it locks. In mrt-zk a batch that was
// pending is processing then.
func (w *world) workerHas(which, name, processing string) error {
	at := w.names[name]
	a, err := w.known(actorNamed(which, "worker"))
	if err != nil {
		return err
	}
	if err := cmp.Or(w.done(), w.wantNode(at+"/lock", "")); err != nil {
		return err
	}
	if owner := w.seen.Get(at + "/lock").Stat.EphemeralOwner; owner != a.ID() {
		return fmt.Errorf("%s/lock belongs to session %#x, expected %#x", at, owner, a.ID())
	}
	if processing != "" && w.mrtZK() {
		if err := errors.Join(w.itemIs(name, "processing", "", ""), w.wantNode(at+"/states", "")); err != nil {
			return err
		}
	}
	return equal("the worker acquired", a.has, at)
}

func (w *world) lockIs(at, how string) error {
	if how == "removed" {
		return w.wantGone(at)
	}
	if err := cmp.Or(w.done(), w.wantNode(at, "")); err != nil || how == "still there" {
		return err
	}
	ephemeral := w.seen.Get(at).Stat.EphemeralOwner != 0
	if want := how == "there, and ends with the session"; ephemeral != want {
		return fmt.Errorf("%s is ephemeral: %t, expected %t", at, ephemeral, want)
	}
	return nil
}

func (w *world) lockIsReleased() error {
	for _, k := range kinds {
		if at, ok := w.names[k.noun]; ok && w.before.Get(at+"/lock") != nil {
			return w.wantGone(at + "/lock")
		}
	}
	return errors.New("no lock was held before")
}

func (w *world) asDocumented() error {
	wrong := w.onTheWay
	w.onTheWay = nil
	for _, p := range merritt.Problems(w.seen, w.dialect) {
		if !strings.Contains(p.Path, "of_another_client") { // written by hand, not as a worker would
			wrong = append(wrong, errors.New(p.String()))
		}
	}
	return errors.Join(wrong...)
}

func (w *world) writtenOnce() error {
	var wrong []string
	for n := range w.seen.All("/") {
		switch path.Base(n.Path) {
		case "submission", "configuration", "bid":
		default:
			if path.Dir(n.Path) != "/batch-uuids" {
				continue
			}
		}
		if n.Stat.Version != 0 || n.Stat.Czxid != n.Stat.Mzxid {
			wrong = append(wrong, fmt.Sprintf("%s has version %d", n.Path, n.Stat.Version))
		}
	}
	return failure("static znodes were written again", wrong)
}

func (w *world) batchAndJobsAre(state, jobs, states string) error {
	var are []string
	for _, name := range strings.Fields(jobs) {
		are = append(are, w.stateOf(w.seen, w.names["job "+name]))
	}
	return errors.Join(w.asDocumented(), equal("the state of the batch", w.stateOf(w.seen, w.names["batch"]), state),
		equal("the states of the jobs", strings.Join(are, " "), states))
}

func equal(what string, got, want any) error {
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s: %v, expected %v", what, got, want)
	}
	return nil
}

func (w *world) foldersAreThere(below, names string) error {
	all := nodes{}
	for _, name := range strings.Fields(names) {
		all[below+name] = ""
	}
	return errors.Join(w.done(), w.wantNodes(all))
}

var refusals = map[string]library.RefusalKind{
	"the lock is already held":                        library.Locked,
	"only the worker that holds the lock may do this": library.NotLocked,
	"the caller does not hold that lock":              library.NotLocked,
	"no step of it has succeeded yet":                 library.NotResumable,
	"it has unfinished jobs":                          library.Processing,
	"it already has jobs":                             library.HasJobs,
	"there already is a batch with that UUID":         library.Exists,
	"only a batch that is processing takes jobs":      library.NotProcessing,
	"a priority has two digits":                       library.Priority,
	"the layout does not allow the value":             library.Value,
	"another client changed it first":                 library.Conflict,
	"the queue is held":                               library.Held,
	"it is in another state":                          library.State,
	"an administrator may not do that":                library.State,
	"there is nothing to acquire":                     library.None,
}

func (w *world) isRefused(why string) error {
	_, err := w.refusedAs(refusals[why])
	return err
}

// refusedAs is the refusal of the last act, which must be of a kind. Of an implementation that gives no reasons, any
// kind counts.
func (w *world) refusedAs(want library.RefusalKind) (*library.Refusal, error) {
	w.last.judged = true
	var refused *library.Refusal
	switch {
	case !errors.As(w.last.err, &refused):
		return nil, fmt.Errorf("it was not refused: %w", cmp.Or(w.last.err, errors.New("it succeeded")))
	case refused.Kind != want && (w.last.able.Reasons() || refused.Kind == library.Other):
		return nil, fmt.Errorf("it was refused as %s, expected %s: %w", refused.Kind, want, refused)
	}
	return refused, nil
}

func (w *world) isIllegal(from, kind, allowed string) error {
	if is := kindOf(w.last.item); is != kind {
		return fmt.Errorf("what should move is a %s, expected a %s", is, kind)
	}
	refused, err := w.refusedAs(library.State)
	if err != nil || !w.last.able.Reasons() {
		return err
	}
	var want []string
	if allowed != "no state" {
		want = strings.Fields(allowed)
	}
	slices.Sort(want)
	if slices.Sort(refused.Allowed); refused.From != from || refused.To != w.last.to || !slices.Equal(refused.Allowed, want) {
		return fmt.Errorf("the refusal names %s, %s and %q, expected %s, %s and %q", refused.From, refused.To, refused.Allowed, from, w.last.to, want)
	}
	return nil
}
