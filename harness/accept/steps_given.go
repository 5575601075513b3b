package accept

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cucumber/godog"
	"github.com/go-zookeeper/zk"

	"mrtq/harness/accept/library"
	"mrtq/harness/internal/session"
	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// The Givens write what docs/new-layout.md, "Paths", describes.

// retries is the retry_count of every job that a Given writes. It is neither 0 nor 1, so that a
// scenario notices a step that sets it to one of them.
const retries = 2

// usualPriority is the priority of every job that a Given writes, unless the scenario says
// otherwise.
const usualPriority = 5

// usualSpace is the space_needed of every job that a Given writes. It is not 0, so that a
// scenario notices a step that sets it to 0.
const usualSpace = 1234

// usualMessages are the messages in statuses that a Given writes. With them a scenario
// notices a step that should remove the message and does not.
var usualMessages = map[string]string{"failed": "what went wrong", "held": "why it was held"}

// usualLSS returns the last_successful_status of a job that reached a state without a
// failure. A failed job has that of a job whose download failed.
func (s spelling) usualLSS(state string) string {
	chain := s.chain()
	switch state {
	case "failed", "deleted":
		state = "downloading"
	case "held": // from pending, as the next state
		state = "estimating"
	}
	i := slices.Index(chain, state)
	if i < 1 || i == 1 && !s.mrtZK() {
		return none
	}
	return chain[i-1]
}

func (s spelling) chain() []string {
	table, chain := states.Transitions(states.Job, string(s.dialect)), []string{states.Pending}
	for next := table.Success(states.Pending); next != ""; next = table.Success(next) {
		chain = append(chain, next)
	}
	return chain
}

func (s spelling) status(kind, state, message string, at time.Time) object {
	status := object{"status": s.state(state), s.timeKey(kind): s.time(at)}
	status.set("message", s.message(message))
	return status
}

func (s spelling) seeded(kind, state string) object {
	return s.status(kind, state, usualMessages[state], longAgo)
}

func (w *world) next(folder, prefix string) string {
	n := len(w.seen.Children(folder))
	if w.seen.Get("/jobs/states") != nil && folder == "/jobs" {
		n--
	}
	return fmt.Sprintf("%s/%s%010d", folder, prefix, n)
}

func (w *world) newBatch(name, state string) error {
	if err := w.isNew(name); err != nil {
		return err
	}
	at := w.next("/batches", "bid")
	uuid := "uuid-of-" + path.Base(at)
	w.names[name] = at
	all := nodes{
		at: "", at + "/submission": w.submission(uuid), at + "/status": w.seeded("batch", state),
		"/batch-uuids/" + uuid: path.Base(at),
	}
	if state != "pending" && state != "held" {
		all[at+"/states/batch-processing"] = ""
	}
	return w.write(all)
}

func (s spelling) submission(uuid string) object {
	return object{
		"profile_name": "merritt_demo_content", "submitter": "Dee Positor", "payload_filename": "three.checkm",
		"submissionDate": s.time(longAgo), "erc_what": "three objects", "erc_who": "", "erc_when": "", "erc_where": "",
		"type": "object-manifest", "submission_mode": "add", "batchID": uuid,
	}
}

// seed is an item that a Given writes. What is not set is as usual.
type seed struct {
	state    string
	size     string // of the object that a request asks for
	priority int    // this and what follows: of a job
	lss      string
	space    int
}

func (w *world) newJob(name, batch string, s seed) error {
	if _, ok := w.names[batch]; !ok {
		if err := w.newBatch(batch, "processing"); err != nil {
			return err
		}
	}
	if err := w.isNew(name); err != nil {
		return err
	}
	at := w.next("/jobs", "jid")
	w.names[name] = at
	status := w.seeded("job", s.state)
	status["last_successful_status"], status["retry_count"] = w.state(cmp.Or(s.lss, w.usualLSS(s.state))), retries
	return w.write(w.jobNodes(at, w.names[batch], s.state, nodes{
		"configuration": w.configuration(path.Base(w.names[batch]), "http://example.org/"+path.Base(at), ""), "status": status,
		"priority": cmp.Or(s.priority, usualPriority), "space_needed": cmp.Or(s.space, usualSpace),
	}))
}

func (w *world) jobNodes(at, batch, state string, docs nodes) nodes {
	all := below(at, docs)
	all[at+"/bid"] = path.Base(batch)
	if state != "deleted" || w.mrtZK() {
		all[entry(state, docs["priority"].(int), at)] = ""
		all[batchEntry(batch, state, at)] = ""
	}
	return all
}

func (s spelling) configuration(bid, url, localID string) object {
	return object{
		"batch_id": bid, "profile_name": "merritt_demo_content", "submitter": "Dee Positor",
		"submissionDate": s.time(longAgo), "payload_url": url, "payload_type": "Manifest",
		"response_type": "JSON", "local_id": localID, "submission_mode": "Add",
	}
}

func entry(state string, priority int, job string) string {
	return newqueue.JobEntryPath(newqueue.JobState(state), priority, path.Base(job))
}

func batchEntry(batch, state, job string) string {
	return newqueue.BatchEntryPath(path.Base(batch), newqueue.JobState(state).Folder(), path.Base(job))
}

func (w *world) newRequest(name, size, state string) error {
	if err := w.isNew(name); err != nil {
		return err
	}
	at := w.next("/access/"+size, "qid")
	w.names[name] = at
	return w.write(nodes{at: "", at + "/token": token(path.Base(at)), at + "/status": w.seeded("request", state)})
}

// token returns a request's token. Its status is a number, as the storage service
// writes it.
func token(text string) object {
	return object{
		"token": text, "delivery-node": 7777, "cloud-content-byte": 123456, "status": 202,
		"url": "http://example.org/presigned", "anticipated-availability-time": "2024-03-01T13:00:00-08:00",
	}
}

// othersWork writes items that are not part of the scenario. No step may acquire,
// report or clean up any of them.
func (w *world) othersWork() error {
	return cmp.Or(
		w.newBatch("unrelated batch", "processing"),
		w.newJob("unrelated held job", "unrelated batch", seed{state: "held", priority: 1}),
		w.newJob("unrelated failed job", "unrelated batch", seed{state: "failed", priority: 1}),
		w.newRequest("unrelated small request", "small", "failed"),
		w.newRequest("unrelated large request", "large", "failed"),
		w.write(nodes{"/locks/collections/of_another_client": "", "/locks/inventory/of_another_client": ""}))
}

func (w *world) newItem(kind, name string, s seed) error {
	switch kind {
	case "job":
		return w.newJob(name, "batch", s)
	case "batch":
		return w.newBatch(name, s.state)
	}
	return w.newRequest(name, cmp.Or(s.size, "small"), s.state)
}

func (w *world) anItem(state, kind, acquired string) error {
	if err := w.newItem(kind, kind, seed{state: state}); err != nil || acquired == "" {
		return err
	}
	return w.acquired(kind, state)
}

func (w *world) acquired(kind, state string) error {
	r := request{Verb: "acquire", What: kind, From: state}
	if kind == "request" {
		r.Name = "small"
	}
	return w.arrange("worker", r)
}

func (w *world) theseItems(kind, state, size string, t *godog.Table) error {
	columns := []string{kind}
	if kind == "job" {
		columns = append(columns, numbers...)
	}
	rows, err := rowsOf(t, columns...)
	for _, row := range rows {
		s := seed{state: state, size: size, priority: row["priority"].(int), space: row["bytes"].(int)}
		err = cmp.Or(err, w.newItem(kind, kind+" "+row[kind].(string), s))
	}
	return err
}

func (w *world) batchOf(state, jobs string) error {
	err := w.newBatch("batch", state)
	for _, job := range strings.Fields(jobs) {
		err = cmp.Or(err, w.newJob("job "+job, "batch", seed{state: "completed"}))
	}
	return err
}

func (w *world) eachAcquired() (err error) {
	for _, name := range []string{"A", "B", "C"} {
		err = cmp.Or(err, w.arrange("worker of "+name, request{Verb: "acquire", What: "job", From: "notify"}))
	}
	return err
}

var numbers = []string{"priority", "bytes"}

func rowsOf(t *godog.Table, known ...string) (rows []map[string]any, err error) {
	seen := map[string]bool{}
	for _, c := range t.Rows[0].Cells {
		if err := oneOf("a column of this table", c.Value, known); err != nil {
			return nil, err
		}
		if seen[c.Value] {
			return nil, fmt.Errorf("the table has two columns %s", c.Value)
		}
		seen[c.Value] = true
	}
	if len(t.Rows) == 1 {
		return nil, errors.New("the table has no row below its columns")
	}
	for n, r := range t.Rows[1:] {
		row := map[string]any{"priority": 0, "bytes": 0}
		for _, column := range known {
			if !slices.Contains(numbers, column) {
				row[column] = ""
			}
		}
		for i, c := range r.Cells {
			column := t.Rows[0].Cells[i].Value
			row[column] = c.Value
			if slices.Contains(numbers, column) {
				if row[column], err = strconv.Atoi(c.Value); err != nil {
					return nil, fmt.Errorf("row %d of the table: %s is %q, expected a number", n+1, column, c.Value)
				}
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (w *world) manifest(t *godog.Table) (jobs []nodes, err error) {
	rows, err := rowsOf(t, append([]string{"payload", "local id", "primary id", "title"}, numbers...)...)
	for _, row := range rows {
		localID := row["local id"].(string)
		docs := nodes{
			"configuration": w.configuration("", row["payload"].(string), localID),
			"identifiers":   object{"primary_id": row["primary id"], "local_id": []string{localID}},
			"priority":      row["priority"], "space_needed": row["bytes"],
		}
		if row["title"] != "" {
			docs["metadata"] = object{"erc_what": row["title"], "erc_who": "", "erc_when": "", "erc_where": ""}
		}
		jobs = append(jobs, docs)
	}
	return jobs, err
}

func (w *world) statusReport(completed, failed, at string) object {
	return object{"last_modified": at, "successful_jobs": w.ids(completed), "failed_jobs": w.ids(failed)}
}

func (w *world) ids(names string) []string {
	ids := []string{}
	for _, name := range strings.Fields(strings.TrimPrefix(names, none)) {
		ids = append(ids, path.Base(w.names["job "+name]))
	}
	slices.Sort(ids)
	return ids
}

func (w *world) lockByHand(what string) error {
	conn, err := session.Open(w.ctx, w.suite.session)
	if err := cmp.Or(err, w.flush()); err != nil {
		return w.stopIfLost(err)
	}
	w.others = append(w.others, conn)
	at := w.names[what] + "/lock"
	if _, err := conn.Create(w.root+at, []byte{}, zk.FlagEphemeral, w.suite.observer.acl); err != nil {
		return fmt.Errorf("lock the %s: %w", what, err)
	}
	w.before, w.seen = nil, w.seen.Clone()
	return w.seen.Put(znode.Node{Path: at, Data: []byte{}})
}

// nodes is what znodes hold, by their paths: an object, a number or a text.
type nodes = library.Docs

func below(at string, docs nodes) nodes {
	all := nodes{at: ""}
	for name, doc := range docs {
		all[at+"/"+name] = doc
	}
	return all
}

func paths(n nodes) []string { return slices.Sorted(maps.Keys(n)) }
