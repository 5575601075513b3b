package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// A saved plan is read back, whatever bytes names and batchIDs have.
func TestPlanWithHostileNamesReadsBack(t *testing.T) {
	for _, text := range []string{"caf\xe9", "a\xed\xa0\x80z", `\ufffd`, "\ufffd", "<&>\u2028", "\x00\x1b"} {
		p := makePlan(t, source(t, queue(t, map[string][]byte{"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"jobID": "one"})})), znode.NewTree(), options(permissive()))
		p.warn(text, text)
		p.ID, p.Seals = p.digest()
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadApproved(bytes.NewReader(b)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A run that began with a saved plan is finished with that plan. New records are not added
// to it.
func TestApprovedPlanIsNotWidened(t *testing.T) {
	opt := options(permissive())
	src := source(t, queue(t, fourRecords(t)))
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, src, opt)
	workOff(t, s, opt.Dialect)
	opt.Again = []string{"/ingest/mrtQ-05000000000001"}
	saved := makePlan(t, src, treeOf(t, s), opt)
	approved := Approved{ID: saved.ID, Source: saved.Source, Target: saved.Target, Dialect: saved.Dialect, Policies: saved.Policies, Settings: saved.Settings}
	began := *saved
	began.ex = &existing{runs: []Run{{ID: saved.Run, State: RunRunning, Plan: saved.ID}}}
	if err := began.CheckApproved(approved); err != nil {
		t.Errorf("the same: %v", err)
	}
	repacked := began
	repacked.Settings.Packet = 2 << 20
	if err := repacked.CheckApproved(approved); err != nil {
		t.Errorf("with another packet size: %v", err)
	}
	wider := began
	wider.Settings.Again = []string{All}
	var stale *StaleError
	err := wider.CheckApproved(approved)
	if !errors.As(err, &stale) || !errors.Is(err, ErrStale) || !slices.Equal(stale.Changes, []Change{{"again", "/ingest/mrtQ-05000000000001", All}}) {
		t.Errorf("with Again for all: %v", err)
	}
}
