package legacyqueue

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// Deployed returns a legacy queue with records as the deployed services wrote
// them. It has ingest jobs of the types file, container and manifest,
// serialized as Java Properties (until February 2024) and as JSON (since then),
// some with few keys and some with all. It also has access requests. The
// inventory queue is empty, and no record is consumed.
//
// The keys and values are those of mrt-ingest's HandlerSubmit and mrt-store's
// QueueUtil.
func Deployed() (*znode.Tree, error) {
	d := &deployed{tree: empty()}
	pending, held, failed, completed, deleted := legacy.Pending, legacy.Held, legacy.Failed, legacy.Completed, legacy.Deleted
	for _, batch := range []struct {
		types []string
		all   bool // every optional key
		jobs  []legacy.Status
	}{
		{[]string{"file"}, true, []legacy.Status{pending}},
		{[]string{"container"}, false, []legacy.Status{pending}},
		{[]string{"manifest"}, true, []legacy.Status{pending}},
		{[]string{"file", "container", "manifest"}, true, []legacy.Status{pending, completed, pending, held, pending, failed, pending, completed, pending, pending, pending, pending}},
		{[]string{"file", "manifest"}, false, []legacy.Status{completed, completed}},
		{[]string{"container"}, true, []legacy.Status{failed, completed}},
		{[]string{"manifest"}, false, []legacy.Status{failed}},
		{[]string{"file"}, false, []legacy.Status{deleted, pending, pending}},
		{[]string{"container"}, true, []legacy.Status{held}},
	} {
		d.batch++
		for i, status := range batch.jobs {
			if err := d.ingest(status, batch.types[i%len(batch.types)], batch.all, len(batch.jobs)); err != nil {
				return nil, err
			}
		}
	}
	for i, status := range []legacy.Status{pending, completed, pending, failed, pending} {
		if err := d.access([]string{"/accessSmall.1", "/accessLarge.1"}[i%2], status); err != nil {
			return nil, err
		}
	}
	d.tree.SetDefaultStats(0)
	return d.tree, nil
}

type deployed struct {
	tree    *znode.Tree
	batch   int
	records int
}

// uuid returns a UUID with two numbers in it, so that a reader recognises it.
func uuid(kind, n int) string {
	return fmt.Sprintf("%08d-2f3b-4d8e-9a57-%012d", kind, n)
}

func (d *deployed) put(path string, status legacy.Status, format legacy.Format, payload legacy.Payload) error {
	at := time.Date(2024, 2, 28, 20, d.records, 0, 123e6, time.UTC)
	data, err := Encode(legacy.NewHeader(status, at, legacy.Milliseconds), format, payload)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return d.tree.Put(znode.Node{Path: path, Data: data})
}

// ingest adds one ingest job. Every second job is serialized as Java Properties.
func (d *deployed) ingest(status legacy.Status, kind string, all bool, inBatch int) error {
	d.records++
	n := d.records
	priority := min(99, int(5+10*math.Log(float64(inBatch))))
	format := legacy.JSON
	if n%2 == 1 {
		format = legacy.JavaSerialized
	}
	p := legacy.Payload{
		"batchID": "bid-" + uuid(d.batch, 0), "jobID": "jid-" + uuid(d.batch, n), "profile": "merritt_demo_content", "type": kind,
		"queuePriority": fmt.Sprintf("%02d", priority), "filename": fmt.Sprintf("package-%d.checkm", n), "update": d.batch%2 == 0,
	}
	if all {
		for key, value := range map[string]string{
			"submitter": "demo/Demo Depositor", "responseForm": "xml", "creator": "Ünïcode, A.", "title": fmt.Sprintf("Title %d — 漢字 😀", n), "date": "2024", "note": "a note\nof two lines",
			"notification": "depositor@example.org", "notificationFormat": "xml", "DataCiteResourceType": "Dataset", "retainTargetURL": "true",
			"digestType": "SHA-256", "digestValue": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
			"localID": fmt.Sprintf("loc-%d;alt-%d", n, n),
		} {
			p[key] = value
		}
		if n%3 == 0 {
			p["objectID"] = fmt.Sprintf("ark:/99999/fk4obj%03d", n)
		}
		for _, key := range []string{"contributor", "coverage", "creator", "date", "description", "format", "identifier", "language", "publisher", "relation", "rights", "source", "subject", "title", "type"} {
			p["DC"+key] = "of the batch: " + key
		}
	}
	return d.put(fmt.Sprintf("/ingest/mrtQ-%02d%d%d%010d", priority, 0, 0, n), status, format, p)
}

func (d *deployed) access(queue string, status legacy.Status) error {
	d.records++
	return d.put(fmt.Sprintf("%s/mrtQ-00%010d", queue, d.records), status, legacy.JSON, legacy.Payload{
		"status": json.Number("201"), "token": uuid(99, d.records), "cloud-content-byte": json.Number("1234567890123"), "delivery-node": json.Number("7777"),
	})
}
