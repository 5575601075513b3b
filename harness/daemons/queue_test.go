package daemons_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// queue is a small new queue in dialect mrt-zk, with its services, and a second
// connection.
type queue struct {
	t *testing.T
	*site
	*daemons.World
	conn *zk.Conn
	home *daemons.Home
	jobs int
}

func newQueue(t *testing.T, opt daemons.Options) *queue {
	t.Helper()
	q := &queue{t: t, site: serve(t, znode.NewTree()), home: daemons.NewHome()}
	q.conn = q.dial(t)
	opt.New, opt.Home = q.place(t), q.home
	if opt.Legacy.Root != "" {
		opt.Legacy.Connect = opt.New.Connect
	}
	q.World = daemons.New(opt)
	t.Cleanup(q.World.Close)
	must(t, q.Start())
	return q
}

func (q *queue) create(path, data string) {
	q.t.Helper()
	_, err := q.conn.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	must(q.t, err)
}

func (q *queue) get(path string) string {
	q.t.Helper()
	data, _, err := q.conn.Get(path)
	must(q.t, err)
	return string(data)
}

func (q *queue) object(path string) newqueue.Object {
	q.t.Helper()
	return value(newqueue.ParseObject([]byte(q.get(path))))(q.t)
}

func (q *queue) remove(path string) {
	q.t.Helper()
	(&breaker{t: q.t, conn: q.conn}).remove(path)
}

func (q *queue) exists(path string) bool {
	q.t.Helper()
	there, _, err := q.conn.Exists(path)
	must(q.t, err)
	return there
}

func (q *queue) status(jid string) string {
	return fmt.Sprint(q.object("/jobs/" + jid + "/status")["status"])
}

// add creates a job in a state, in a batch of its own. Its configuration is that of a
// file, changed.
func (q *queue) add(state string, changed newqueue.Object) (jid string) {
	q.t.Helper()
	q.jobs++
	jid, bid := fmt.Sprintf("jid%010d", q.jobs), fmt.Sprintf("bid%010d", q.jobs)
	c := newqueue.Object{"jobID": "jid-" + jid, "batchID": "bid-" + bid, "profile": "merritt_content", "type": "file", "filename": "a.txt",
		"update": false, "submitter": "s", "submissionDate": ""}
	maps.Copy(c, changed)
	ids := `{"primary_id":"","local_id":[]}`
	if given, ok := c["identifiers"].(string); ok {
		ids = given
		delete(c, "identifiers")
	}
	configuration := string(value(c.Marshal())(q.t))
	for _, node := range [][2]string{
		{"/batches/" + bid, ""}, {"/batches/" + bid + "/submission", configuration}, {"/batches/" + bid + "/status", `{"status":"Processing"}`},
		{"/batches/" + bid + "/states", ""}, {"/batches/" + bid + "/states/batch-processing", ""}, {"/batches/" + bid + "/states/batch-failed", ""},
		{"/batches/" + bid + "/states/batch-completed", ""},
		{"/batches/" + bid + "/states/" + folderOf(state) + "/" + jid, ""}, {"/batch-uuids/" + fmt.Sprint(c["batchID"]), bid},
		{"/jobs/" + jid, ""}, {"/jobs/" + jid + "/bid", bid}, {"/jobs/" + jid + "/configuration", configuration}, {"/jobs/" + jid + "/identifiers", ids},
		{"/jobs/" + jid + "/priority", "05"}, {"/jobs/" + jid + "/space_needed", "0"},
		{"/jobs/" + jid + "/status", `{"status":"` + state + `","last_successful_status":null,"retry_count":0,"message":""}`},
		{"/jobs/states/" + strings.ToLower(state) + "/05-" + jid, ""},
	} {
		q.create(node[0], node[1])
	}
	return jid
}

func folderOf(state string) string { return string(newqueue.JobState(strings.ToLower(state)).Folder()) }

func (q *queue) request(in newqueue.AccessQueue, token string) (path string) {
	q.jobs++
	path = fmt.Sprintf("/access/%s/qid%010d", in, q.jobs)
	q.create(path, "")
	q.create(path+"/token", `{"token":"`+token+`","cloud-content-byte":1,"delivery-node":1}`)
	q.create(path+"/status", `{"status":"Pending"}`)
	return path
}

func (q *queue) writes(t *daemons.Turn) (all []string) {
	q.t.Helper()
	short := strings.NewReplacer("bid-bid0000000001", "UUID", "jid0000000001", "J", "bid0000000001", "B")
	for {
		p, more := t.Next()
		if !more {
			_, err := t.Finish()
			must(q.t, err)
			return all
		}
		if p.Waits != "" {
			q.t.Fatalf("it waits for %s", p.Waits)
		}
		all = append(all, short.Replace(p.Write))
	}
}

func (q *queue) worker(name services.Daemon) *daemons.Actor {
	for _, a := range q.Workers() {
		if a.Name == string(name) {
			return a
		}
	}
	q.t.Fatalf("no worker %s", name)
	return nil
}

func (q *queue) step(a *daemons.Actor) {
	q.t.Helper()
	if did := value(a.Step())(q.t); !did {
		q.t.Fatalf("%s did nothing: %v, %v", a.Name, q.Troubles, q.Waiting())
	}
}

func (q *queue) until(t *daemons.Turn, write string) {
	q.t.Helper()
	for {
		p, more := t.Next()
		if !more {
			q.t.Fatalf("the turn ended before %q", write)
		}
		if strings.HasPrefix(p.Write, write) {
			return
		}
	}
}
