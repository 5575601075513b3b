package client_test

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// library does what the deployed client library does, step by step, as its Java
// classes do it (Batch, Job and QueueItem of org.cdlib.mrt.zk). It works
// through the second connection, and does not use newqueue.
type library struct{ w *world }

// libraryNext are the changes of state that the library allows (JobState,
// BatchState and AccessState).
var libraryNext = map[string]string{
	"Pending": "Held Processing Estimating Failed", "Held": "Pending Deleted", "Processing": "Reporting Failed Storing Completed",
	"Failed": "Pending Estimating Provisioning Downloading Processing Storing Recording Notify Deleted UpdateReporting",
}

// setStatus is QueueItem.setStatus with Job.statusObject. The Java library
// writes the state that the job leaves, unless the new one is Failed or
// Deleted. The Ruby library does the same, unless the old one is Failed or
// Deleted, too.
func (l library) setStatus(item, status string, ruby bool) error {
	l.w.t.Helper()
	at := item + "/status"
	var o map[string]any
	must(l.w.t, json.Unmarshal(l.w.tree().Get(at).Data, &o))
	old, _ := o["status"].(string)
	if status != "Failed" && !strings.Contains(" "+libraryNext[old]+" ", " "+status+" ") {
		return fmt.Errorf("State change (%s->%s) is not allowed", old, status)
	}
	gone := []string{"Failed", "Deleted"}
	if strings.HasPrefix(item, "/jobs/") {
		if !slices.Contains(gone, status) && !(ruby && slices.Contains(gone, old)) {
			o["last_successful_status"] = old
		}
		l.moveEntries(item, old, status)
	}
	o["status"], o["message"], o["last_modified"] = status, "", "2024-03-01 12:00:00 -0800"
	l.w.put(at, string(value(json.Marshal(o))(l.w.t)))
	return nil
}

// moveEntries is Job.setJobStatePath and Job.setBatchStatePath.
func (l library) moveEntries(item, old, status string) {
	l.w.t.Helper()
	tree, jid := l.w.tree(), path.Base(item)
	places := func(state string) []string {
		folder := "batch-processing"
		switch state {
		case "Failed", "Completed", "Deleted":
			folder = "batch-" + strings.ToLower(state)
		}
		return []string{
			fmt.Sprintf("/jobs/states/%s/%02s-%s", strings.ToLower(state), tree.Get(item+"/priority").Data, jid),
			fmt.Sprintf("/batches/%s/states/%s/%s", tree.Get(item+"/bid").Data, folder, jid),
		}
	}
	for _, p := range places(old) {
		l.w.delete(p)
	}
	for _, p := range places(status) {
		l.w.put(p, "")
	}
}

// createBatch is Batch.createBatch: the entry in batch-uuids is named by the
// batchID itself.
func (l library) createBatch(bid, batchID string) error {
	l.w.t.Helper()
	l.w.put("/batches/"+bid+"/submission", string(value(json.Marshal(map[string]string{"batchID": batchID}))(l.w.t)))
	l.w.put("/batches/"+bid+"/status", `{"status":"Pending","last_modified":"2024-03-01 12:00:00 -0800","message":""}`)
	l.w.put("/batch-uuids", "")
	_, err := l.w.raw.Create(l.w.root+"/batch-uuids/"+batchID, []byte(bid), 0, zk.WorldACL(zk.PermAll))
	return err
}

// findByUUID is Batch.findByUuid. It returns "" if there is none.
func (l library) findByUUID(batchID string) string {
	l.w.t.Helper()
	data, _, err := l.w.raw.Get(l.w.root + "/batch-uuids/" + batchID)
	if err == zk.ErrNoNode {
		return ""
	}
	must(l.w.t, err)
	return string(data)
}

// left are the znodes of a tree whose paths contain part.
func left(tree *znode.Tree, part string) []string {
	return slices.DeleteFunc(tree.Paths("/"), func(p string) bool { return !strings.Contains(p, part) })
}
