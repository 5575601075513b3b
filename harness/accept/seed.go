package accept

import (
	"fmt"
	"path"
	"strconv"

	"mrtq/internal/znode"
)

// The Givens write what docs/new-layout.md, "Paths", describes.

// seed is a job that a Given writes.
type seed struct {
	state    string
	priority int
	lss      string // "none" or a state; "" means the usual one for the state
	space    int64
	localID  string
}

// retries is the retry_count of every job that a Given writes. It is neither 0 nor 1, so that a
// scenario notices a step that sets it to one of them.
const retries = 2

// usualPriority is the priority of every job that a Given writes, unless the scenario says
// otherwise.
const usualPriority = 5

// usualSpace is the space_needed of every job that a Given writes. It is not 0, so that a
// scenario notices a step that sets it to 0.
const usualSpace = 1234

// usualLSS returns the last_successful_status of a job that reached a state without a
// failure. A failed job has that of a job whose download failed.
func (s spelling) usualLSS(state string) string {
	last := map[string]string{
		"pending": none, "held": none, "estimating": none, "provisioning": "estimating",
		"downloading": "provisioning", "processing": "downloading", "recording": "processing",
		"notify": "recording", "completed": "notify", "failed": "provisioning", "deleted": "provisioning",
	}[state]
	if s.mrtZK() {
		switch state {
		case "held", "estimating":
			return "pending"
		case "storing":
			return "processing"
		case "recording":
			return "storing"
		}
	}
	return last
}

// id returns the next id of a kind, such as "jid0000000003".
func (w *world) id(prefix, folder string) string {
	n := len(w.seen.Children(folder))
	if w.seen.Get("/jobs/states") != nil && prefix == "jid" {
		n--
	}
	return fmt.Sprintf("%s%010d", prefix, n)
}

// newBatch writes a batch in a state.
func (w *world) newBatch(name, state string) error {
	bid := w.id("bid", "/batches")
	at := "/batches/" + bid
	status := object{"status": w.state(state), "last_modified": w.time(longAgo)}
	w.message(status, usualMessage(state))
	submission := object{
		"profile_name": "merritt_demo_content", "submitter": "Dee Positor", "payload_filename": "three.checkm",
		"submissionDate": w.time(longAgo), "erc_what": "", "erc_who": "", "erc_when": "", "erc_where": "",
		"type": "object-manifest", "submission_mode": "add", "batchID": "uuid-of-" + bid,
	}
	nodes := []znode.Node{
		{Path: at, Data: []byte{}},
		{Path: at + "/submission", Data: submission.bytes()},
		{Path: at + "/status", Data: status.bytes()},
		{Path: "/batch-uuids/uuid-of-" + bid, Data: []byte(bid)},
	}
	if state != "pending" && state != "held" {
		nodes = append(nodes, znode.Node{Path: at + "/states/batch-processing", Data: []byte{}})
	}
	w.names[name] = at
	return w.write(nodes...)
}

// newJob writes a job of a batch, in its three places.
func (w *world) newJob(name, batch string, s seed) error {
	jid, bid := w.id("jid", "/jobs"), path.Base(w.names[batch])
	at := "/jobs/" + jid
	if s.space == 0 {
		s.space = usualSpace
	}
	if s.lss == "" {
		s.lss = w.usualLSS(s.state)
	}
	status := object{
		"status": w.state(s.state), "last_successful_status": w.state(s.lss),
		w.jobTime: w.time(longAgo), "retry_count": retries,
	}
	w.message(status, usualMessage(s.state))
	nodes := append(jobNodes(at, bid, s.priority, s.space), []znode.Node{
		{Path: at + "/configuration", Data: w.configuration(bid, "http://example.org/"+jid, s.localID).bytes()},
		{Path: at + "/status", Data: status.bytes()},
	}...)
	if s.state != "deleted" || w.mrtZK() { // in dialect design a deleted job has no entries
		nodes = append(nodes,
			znode.Node{Path: entry(s.state, s.priority, jid), Data: []byte{}},
			znode.Node{Path: w.names[batch] + "/states/" + folderOf(s.state) + "/" + jid, Data: []byte{}})
	}
	w.names[name] = at
	return w.write(nodes...)
}

// usualMessage returns the message in a status that a Given writes. With it a scenario
// notices a step that should remove the message and does not.
func usualMessage(state string) string {
	switch state {
	case "failed":
		return "what went wrong"
	case "held":
		return "why it was held"
	}
	return ""
}

// jobNodes returns the znodes that a job has in both dialects and never loses.
func jobNodes(at, bid string, priority int, space int64) []znode.Node {
	return []znode.Node{
		{Path: at, Data: []byte{}},
		{Path: at + "/bid", Data: []byte(bid)},
		{Path: at + "/priority", Data: []byte(strconv.Itoa(priority))},
		{Path: at + "/space_needed", Data: []byte(strconv.FormatInt(space, 10))},
	}
}

// configuration is a job's.
func (s spelling) configuration(bid, url, localID string) object {
	return object{
		"batch_id": bid, "profile_name": "merritt_demo_content", "submitter": "Dee Positor",
		"submissionDate": s.time(longAgo), "payload_url": url, "payload_type": "Manifest",
		"response_type": "JSON", "local_id": localID, "submission_mode": "Add",
	}
}

// entry returns the path of a job's entry in the queue of a state.
func entry(state string, priority int, jid string) string {
	return fmt.Sprintf("/jobs/states/%s/%02d-%s", state, priority, jid)
}

// newAccess writes an access request.
func (w *world) newAccess(name, queue, state string) error {
	at := "/access/" + queue + "/" + w.id("qid", "/access/"+queue)
	status := object{"status": w.state(state), "last_modified": w.time(longAgo)}
	w.message(status, usualMessage(state))
	w.names[name] = at
	return w.write(
		znode.Node{Path: at, Data: []byte{}},
		znode.Node{Path: at + "/token", Data: tokenOf(path.Base(at)).bytes()},
		znode.Node{Path: at + "/status", Data: status.bytes()},
	)
}

// tokenOf returns a request's token. Its status is a number, as the storage service
// writes it.
func tokenOf(text string) object {
	return object{
		"token": text, "delivery-node": 7777, "cloud-content-byte": 123456, "status": 202,
		"url": "http://example.org/presigned", "anticipated-availability-time": "2024-03-01T13:00:00-08:00",
	}
}

// othersWork writes items that are not part of the scenario. No step may acquire,
// report or clean up any of them.
func (w *world) othersWork() error {
	if err := w.newBatch("unrelated batch", "processing"); err != nil {
		return err
	}
	for _, state := range []string{"held", "failed"} {
		if err := w.newJob("unrelated "+state+" job", "unrelated batch", seed{state: state, priority: 1}); err != nil {
			return err
		}
	}
	if err := w.newAccess("unrelated request", "small", "failed"); err != nil {
		return err
	}
	if err := w.newAccess("unrelated request", "large", "failed"); err != nil {
		return err
	}
	return w.write(
		znode.Node{Path: "/locks/collections/of_another_client", Data: []byte{}},
		znode.Node{Path: "/locks/inventory/of_another_client", Data: []byte{}},
	)
}
