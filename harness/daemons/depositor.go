package daemons

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// Depositor submits copies of pending ingest records to the legacy queue. Each has a jobID of its own, and every
// second one a batchID of its own.
type Depositor struct {
	models    []model
	submitted int
}

type model struct {
	prefix  string // of the path, before the number that the server adds
	payload legacy.Payload
}

// NewDepositor returns a depositor who submits copies of those of these records of a tree that are pending. Deposits are JSON: what that can't hold is left
// out.
func NewDepositor(tree *znode.Tree, records []string, opt legacy.Options) *Depositor {
	d := &Depositor{}
	for _, path := range records {
		r, err := legacy.Decode(znode.Name(path), tree.Get(path).Data, opt)
		if err != nil || r.Header.Status != legacy.Pending {
			continue
		}
		if _, err := legacyqueue.Encode(r.Header, legacy.JSON, r.Payload); err == nil {
			d.models = append(d.models, model{strings.TrimSuffix(path, fmt.Sprintf("%010d", r.Key.Sequence)), r.Payload})
		}
	}
	return d
}

// Models returns how many records the depositor copies, one after the other.
func (d *Depositor) Models() int { return len(d.models) }

// Submit submits the next record, and returns its path and whose work it is: see [LegacyKey]. The error is one of [World.Submit]; then the next call submits a
// copy of another record.
func (d *Depositor) Submit(w *World) (path, key string, err error) {
	m := d.models[d.submitted%len(d.models)]
	d.submitted++
	p := maps.Clone(m.payload)
	for i, id := range []string{"jobID", "batchID"} {
		if is, _ := p.Text(id); d.submitted%(i+1) == 0 {
			p[id] = fmt.Sprintf("%s-again-%d", is, d.submitted)
		}
	}
	data, err := legacyqueue.Encode(legacy.NewHeader(legacy.Pending, time.Now(), legacy.Milliseconds), legacy.JSON, p)
	if err == nil {
		path, err = w.Submit(m.prefix, data)
	}
	return path, LegacyKey(p), err
}
