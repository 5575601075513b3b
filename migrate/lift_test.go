package migrate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// TestPlanLift: which holds go, which stay with which owners, and why.
func TestPlanLift(t *testing.T) {
	const ingest, small, large = newqueue.HoldIngest, newqueue.HoldAccessSmall, newqueue.HoldAccessLarge
	run, ops := migration.HoldOwner{By: migration.RunID(0)}, migration.HoldOwner{By: "ops"}
	queue := func(q newqueue.QueueHold, owners ...migration.HoldOwner) migration.Hold {
		return migration.Hold{Path: string(q), Queue: q, Owners: owners}
	}
	all := []migration.Hold{queue(ingest, run), queue(small, run), queue(large, run)}
	collection := migration.Hold{Path: "col", Collection: "col", Owners: migration.HoldOwners{ops}}
	asks := []migration.Note{{Record: "/ingest/1", Queue: ingest}}
	consumed, locked := migration.LegacyActivity{Path: "/small/1", What: migration.ActivityConsumed, Queue: small}, migration.LegacyActivity{Path: "/locks/1", What: migration.ActivityLocked, Queue: ingest}
	for name, c := range map[string]struct {
		opt          ReleaseOptions
		holds        []migration.Hold
		undecided    []migration.Note
		work         []migration.LegacyActivity
		waits        []string
		lifted, left string // names, with the owners of those that are left
		atWork       int
		stays        []error
	}{
		"all":                            {holds: all, lifted: "ingest accessSmall accessLarge"},
		"nothing is held":                {},
		"one":                            {opt: ReleaseOptions{Queues: []newqueue.QueueHold{small}}, holds: all, lifted: "accessSmall", left: "ingest:1 accessLarge:1"},
		"a person holds it, too":         {holds: []migration.Hold{queue(ingest, run, ops)}, left: "ingest:1"},
		"others, too":                    {opt: ReleaseOptions{Others: true}, holds: []migration.Hold{queue(ingest, run, ops), queue(small, ops)}, lifted: "ingest accessSmall"},
		"a person alone holds it":        {holds: []migration.Hold{queue(ingest, ops)}, undecided: asks, left: "ingest:1", stays: []error{ErrUndecided}},
		"a collection stays":             {holds: []migration.Hold{all[0], collection}, lifted: "ingest", left: "col:1"},
		"no such collection":             {opt: ReleaseOptions{Collections: []string{"demo"}}, holds: []migration.Hold{all[0], collection}, left: "ingest:1 col:1"},
		"a collection":                   {opt: ReleaseOptions{Collections: []string{"col"}}, holds: []migration.Hold{all[0], collection}, lifted: "col", left: "ingest:1"},
		"undecided":                      {holds: all, undecided: asks, lifted: "accessSmall accessLarge", left: "ingest:1", stays: []error{ErrUndecided}},
		"at work":                        {holds: all, work: []migration.LegacyActivity{consumed}, lifted: "ingest", left: "accessSmall:1 accessLarge:1", atWork: 1, stays: []error{ErrAtWork}},
		"both":                           {holds: all, undecided: asks, work: []migration.LegacyActivity{consumed, locked}, left: "ingest:1 accessSmall:1 accessLarge:1", atWork: 2, stays: []error{ErrUndecided, ErrAtWork}},
		"workers are stopped":            {opt: ReleaseOptions{WorkersStopped: 1}, holds: all, work: []migration.LegacyActivity{consumed}, lifted: "ingest accessSmall accessLarge"},
		"more workers than are stopped":  {opt: ReleaseOptions{WorkersStopped: 1}, holds: all, work: []migration.LegacyActivity{consumed, {Path: "/small/2", Queue: small}}, lifted: "ingest", left: "accessSmall:1 accessLarge:1", atWork: 2, stays: []error{ErrAtWork}},
		"N is how many there are in all": {opt: ReleaseOptions{WorkersStopped: 2}, holds: all, work: []migration.LegacyActivity{consumed, locked}, lifted: "ingest accessSmall accessLarge"},
		"and not of each queue":          {opt: ReleaseOptions{WorkersStopped: 1}, holds: all, work: []migration.LegacyActivity{consumed, locked}, left: "ingest:1 accessSmall:1 accessLarge:1", atWork: 2, stays: []error{ErrAtWork}},
		"nor of those that are held":     {opt: ReleaseOptions{WorkersStopped: 1}, holds: all[1:], work: []migration.LegacyActivity{consumed, locked}, left: "accessSmall:1 accessLarge:1", atWork: 2, stays: []error{ErrAtWork}},
		"undecided, and lifted by hand":  {undecided: asks, stays: []error{ErrUndecided}},
		"at work, and lifted by hand":    {work: []migration.LegacyActivity{consumed}, waits: []string{consumed.Path}, atWork: 1, stays: []error{ErrAtWork}},
	} {
		t.Run(name, func(t *testing.T) {
			l := planLift(c.opt, c.holds, c.undecided, c.work, c.waits)
			var left []string
			for _, h := range l.left {
				left = append(left, fmt.Sprintf("%s:%d", h.Path, len(h.Owners)))
			}
			if lifted := strings.Join(l.lifted, " "); lifted != c.lifted || strings.Join(left, " ") != c.left {
				t.Errorf("lifted %s, left %v, expected %s, %s", lifted, left, c.lifted, c.left)
			}
			deletes := len(slices.DeleteFunc(slices.Clone(l.ops), func(op znode.Op) bool { return op.Kind != znode.OpDelete }))
			if len(l.atWork) != c.atWork || deletes != len(l.lifted) {
				t.Errorf("%d at work, %d deleted: %+v", len(l.atWork), deletes, l)
			}
			for _, err := range []error{ErrUndecided, ErrAtWork} {
				if errors.Is(l.stays, err) != slices.Contains(c.stays, err) {
					t.Errorf("it stays because of %v, expected %v", l.stays, c.stays)
				}
			}
		})
	}
}
