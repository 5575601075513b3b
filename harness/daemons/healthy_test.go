package daemons_test

import (
	"strings"
	"testing"
	"time"

	"mrtq/harness/daemons"
	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/newqueue"
)

// TestHealthyQueue: check says nothing against a queue in which services work, whatever they have just written.
func TestHealthyQueue(t *testing.T) {
	q := newQueue(t, daemons.Options{Fails: func(worker, record string) bool { return worker == "Download" && strings.HasSuffix(record, "3") }})
	q.add("Pending", newqueue.Object{"type": "container", "identifiers": `{"primary_id":"","local_id":["a/b"]}`})
	q.add("Pending", newqueue.Object{"identifiers": `{"primary_id":"ark:/1/2","local_id":[]}`})
	q.add("Pending", newqueue.Object{"type": "manifest"})
	q.request(newqueue.AccessSmall, "x")
	l := deployedMap(t)
	looks := 0
	look := func(after string) {
		r := value(l.Check(t.Context(), layout.InMemory(q.tree(t)), layout.Options{Now: time.Now()}))(t)
		for _, f := range r.Findings {
			if f.Severity != layout.Info {
				t.Errorf("before %q: %s", after, f)
			}
		}
		looks++
	}
	for did := true; did; {
		did = false
		for _, a := range append(q.Workers(), nil) {
			if a == nil {
				break
			}
			turn := a.Begin()
			for {
				p, more := turn.Next()
				look(a.Name + ": " + p.Write)
				if !more {
					break
				}
				did = true
			}
		}
	}
	t.Log(looks)
	_ = merritt.Names
}
