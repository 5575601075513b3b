// Package legacyqueue makes legacy queues of any size, with records of every
// format, status and kind, for scenarios, tests and benchmarks. The same
// options always give the same queue. A [Consumer] looks at records in the order
// of the legacy services.
package legacyqueue

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// Options say what queue to make.
type Options struct {
	Records int
	Seed    uint64
	// Consumed makes some records consumed. Without it there are none, so that
	// a migration needs no decision about them.
	Consumed bool
}

// Make returns a legacy queue as a tree. Most records are ingest records, in
// batches of very different sizes. One record in ten is an inventory record,
// and one in twenty is an access request.
func Make(opt Options) (*znode.Tree, error) {
	g := &generator{opt: opt, rnd: rand.New(rand.NewPCG(opt.Seed, 0)), tree: empty()}
	for i := range opt.Records {
		if err := g.record(i); err != nil {
			return nil, err
		}
	}
	g.tree.SettleStats(0)
	return g.tree, nil
}

func empty() *znode.Tree {
	tree := znode.NewTree()
	for _, root := range []string{"/ingest", "/mrt.inventory.full", "/accessSmall.1", "/accessLarge.1", "/mrt.lock"} {
		if err := tree.Put(znode.Node{Path: root, Data: []byte{}}); err != nil {
			panic(err) // each is a path
		}
	}
	return tree
}

type generator struct {
	opt   Options
	rnd   *rand.Rand
	tree  *znode.Tree
	batch int // the current one
	left  int // jobs still to come in it
}

func (g *generator) record(i int) error {
	var path string
	var payload legacy.Payload
	format := formats[g.rnd.IntN(len(formats))].format
	priority := g.rnd.IntN(100)
	switch n := g.rnd.IntN(20); {
	case n == 0:
		queue := []string{"/accessSmall.1", "/accessLarge.1"}[g.rnd.IntN(2)]
		path = fmt.Sprintf("%s/mrtQ-%02d%010d", queue, priority, i)
		payload, format = g.access(i), legacy.JSON
	case n <= 2:
		path = fmt.Sprintf("/mrt.inventory.full/mrtQ-%02d%010d", priority, i)
		payload = legacy.Payload{"manifestURL": fmt.Sprintf("http://store.example.org/manifest/9501/ark%%3A%%2F99999%%2Ffk4%06d?a=1&b=2", i)}
	default:
		path = fmt.Sprintf("/ingest/mrtQ-%02d%d%d%010d", priority, g.rnd.IntN(2), g.rnd.IntN(4), i)
		payload = g.ingest(i, format)
	}
	at := time.Date(2024, 2, 1, 0, 0, i, 123e6, time.UTC)
	unit := legacy.Milliseconds
	if g.rnd.IntN(10) == 0 {
		unit = legacy.Seconds
	}
	data, err := Encode(legacy.NewHeader(g.status(), at, unit), format, payload)
	if err != nil {
		return fmt.Errorf("record %d: %w", i, err)
	}
	return g.tree.Put(znode.Node{Path: path, Data: data})
}

// status is mostly pending, as in a production queue.
func (g *generator) status() legacy.Status {
	switch n := g.rnd.IntN(20); {
	case n == 0:
		return legacy.Held
	case n == 1:
		return legacy.Failed
	case n <= 3:
		return legacy.Completed
	case n == 4:
		return legacy.Deleted
	case n == 5 && g.opt.Consumed:
		return legacy.Consumed
	}
	return legacy.Pending
}

// titles have text that has broken decoders: other scripts, characters beyond
// U+FFFF, the special characters of XML and of properties, and a Java string
// that was cut inside a character.
var titles = []string{
	"First title", "Ünïcode — 漢字 😀", "cost is ${price} = 5 # not a comment", "<tags> & \"quotes\"",
	"line one\nline two\ttabbed", "trailing backslash \\", " leading space", "cut " + cut,
}

// cut is the first half of a character that was cut, as WTF-8.
const cut = "\xed\xa0\xbd"

func (g *generator) ingest(i int, format legacy.Format) legacy.Payload {
	if g.left == 0 {
		g.batch++
		g.left = 1 + g.rnd.IntN(1<<g.rnd.IntN(8))
	}
	g.left--
	p := legacy.Payload{
		"batchID": fmt.Sprintf("bid-%08d-2f3b-4d8e-9a57-0d6c0a5d1a10", g.batch), "jobID": fmt.Sprintf("jid-%07d", i),
		"profile": "demo_merritt_content", "type": []string{"manifest", "file", "container"}[i%3], "submitter": "demo/Demo Depositor",
		"queuePriority": "05", "responseForm": "xml", "update": g.rnd.IntN(2) == 0,
		"filename": fmt.Sprintf("http://example.org/manifests/jid-%07d.checkm", i),
	}
	if g.rnd.IntN(3) == 0 {
		p["title"] = titles[g.rnd.IntN(len(titles))]
		p["localID"] = fmt.Sprintf("loc%06d; alt%06d", i, i)
	}
	if g.rnd.IntN(4) == 0 {
		p["objectID"] = fmt.Sprintf("ark:/99999/fk4%06d", i)
		p["creator"], p["date"] = "A. Creator", "2024"
	}
	if g.rnd.IntN(100) == 0 {
		delete(p, "batchID")
	}
	if format == legacy.Properties || format == legacy.PropertiesXML { // text has no Boolean
		p["update"], _ = p.Text("update")
	}
	return p
}

func (g *generator) access(i int) legacy.Payload {
	return legacy.Payload{
		"token": fmt.Sprintf("7b1f1b7e-6a2c-4d55-9a55-%012d", i), "delivery-node": json.Number("7777"),
		"cloud-content-byte": json.Number("1234567890123"), "status": json.Number("202"),
		"url": "https://example.org/presigned?x=1", "anticipated-availability-time": "2024-02-29T01:00:00-08:00",
	}
}
