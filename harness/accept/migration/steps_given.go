package migration

// The steps that write legacy queues.

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// load writes a legacy queue through the scenario's session. If the scenario has one already, it begins
// in another chroot.
func (w *world) load(tree *znode.Tree, err error) error {
	if err != nil {
		return err
	}
	if w.legacy != nil {
		w.root += "-again"
		if err := w.makeRoot(); err != nil {
			return err
		}
	}
	var ops []any
	for n := range tree.All("/") {
		if n.Path != "/" {
			ops = append(ops, &zk.CreateRequest{Path: w.root + "/legacy" + n.Path, Data: append([]byte{}, n.Data...), Acl: w.acl})
		}
	}
	for some := range slices.Chunk(ops, 200) {
		if _, err := w.conn.Multi(some...); err != nil {
			return fmt.Errorf("write the legacy queue: %w", err)
		}
	}
	w.legacy, err = w.tree("/legacy")
	return err
}

// without is a value that removes its key.
const without = "(none)"

var records = map[string]struct {
	queue   string // "" for ingest
	status  legacy.Status
	format  legacy.Format
	changed legacy.Payload
}{
	"a file":                          {},
	"a container":                     {changed: legacy.Payload{"type": "container"}},
	"a manifest":                      {changed: legacy.Payload{"type": "manifest"}},
	"a file of before February 2024":  {format: legacy.JavaSerialized},
	"a file whose update is a string": {format: legacy.Properties, changed: legacy.Payload{"update": "true"}},
	"a file without update":           {changed: legacy.Payload{"update": without}},
	"a file with all optional keys":   {changed: optional()},
	"a held file":                     {status: legacy.Held},
	"a consumed file":                 {status: legacy.Consumed},
	"a failed file":                   {status: legacy.Failed},
	"a held manifest":                 {status: legacy.Held, changed: legacy.Payload{"type": "manifest"}},
	"a failed container":              {status: legacy.Failed, changed: legacy.Payload{"type": "container"}},
	"a failed manifest":               {status: legacy.Failed, changed: legacy.Payload{"type": "manifest"}},
	"a failed manifest with a digest": {status: legacy.Failed, changed: legacy.Payload{"type": "manifest", "digestType": "MD5", "digestValue": "abc"}},
	"a completed file":                {status: legacy.Completed},
	"an object-manifest":              {changed: legacy.Payload{"type": "object-manifest"}},
	"a file without filename":         {changed: legacy.Payload{"filename": without}},
	"a file without jobID":            {changed: legacy.Payload{"jobID": without}},
	"a file whose DCdate is a number": {changed: legacy.Payload{"DCdate": json.Number("2024")}},
	"a file of an unknown digest":     {changed: legacy.Payload{"digestType": "md-5", "digestValue": "abc"}},
	"a file without profile":          {changed: legacy.Payload{"profile": without}},
	"a file of a batch without bid-":  {changed: legacy.Payload{"batchID": "another"}},
	"an inventory record":             {queue: "/mrt.inventory.full/mrtQ-000000000001", format: legacy.BeansXML},
	"a request for a small object":    {queue: "/accessSmall.1/mrtQ-000000000001"},
	"a request for a large object":    {queue: "/accessLarge.1/mrtQ-000000000001"},
	"a request without its size":      {queue: "/accessSmall.1/mrtQ-000000000001", changed: legacy.Payload{"cloud-content-byte": without}},
	"a request without its token":     {queue: "/accessSmall.1/mrtQ-000000000001", changed: legacy.Payload{"token": without}},
}

func optional() legacy.Payload {
	p := legacy.Payload{"digestType": "MD5", "digestValue": "d41d8cd98f00b204e9800998ecf8427e", "localID": "a;b", "objectID": "ark:/99999/fk4abc123"}
	for _, key := range strings.Fields("submitter responseForm creator title date note notification notificationFormat DataCiteResourceType retainTargetURL DCtitle DCdate") {
		p[key] = "some " + key
	}
	return p
}

func (w *world) oneRecord(kind string) error {
	r, known := records[kind]
	if !known {
		return fmt.Errorf("no record is defined as %q", kind)
	}
	p := legacy.Payload{"batchID": "bid-7f7dd8b6-8ac6-4c41-8b1c-5a4b0b7a3d62", "jobID": "jid-1", "profile": "merritt_demo_content",
		"type": "file", "queuePriority": "05", "filename": "a.txt", "update": false}
	w.record = "/ingest/mrtQ-05000000000001"
	if r.queue != "" {
		w.record = r.queue
		p = legacy.Payload{"manifestURL": "http://store.example.org/manifest/9501/ark%3A%2F99999%2Ffk4abc123"}
	}
	if strings.HasPrefix(r.queue, "/access") {
		p = legacy.Payload{"status": json.Number("201"), "token": "7b1f1b7e", "cloud-content-byte": json.Number("1234567890123"), "delivery-node": json.Number("7777")}
	}
	maps.Copy(p, r.changed)
	maps.DeleteFunc(p, func(_ string, v any) bool { return v == without })
	if r.format == "" {
		r.format = legacy.JSON
	}
	data, err := legacyqueue.Encode(legacy.NewHeader(r.status, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), legacy.Milliseconds), r.format, p)
	tree := znode.NewTree()
	return w.load(tree, cmp.Or(err, tree.Put(znode.Node{Path: w.record, Data: data})))
}

func (w *world) addRecord() error {
	data := binary.BigEndian.AppendUint64([]byte{0}, uint64(time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli()))
	data = append(data, `{"batchID":"bid-4f0c1f6e-2f3b-4d8e-9a57-0d6c0a5d1a10","jobID":"jid-new"}`...)
	w.record = "/ingest/mrtQ-05000000000099"
	return w.create("/legacy"+w.record, data)
}

func (w *world) failRecord(path string) error {
	data, stat, err := w.conn.Get(w.root + "/legacy" + path)
	if err != nil {
		return err
	}
	data[0], w.record = byte(legacy.Failed), path
	_, err = w.conn.Set(w.root+"/legacy"+path, data, stat.Version)
	return err
}
