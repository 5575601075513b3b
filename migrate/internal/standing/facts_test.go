package standing_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/migration"
)

// TestFactsOf: what a record is now, by what is there under its name.
func TestFactsOf(t *testing.T) {
	const record, queue, again = "/ingest/mrtQ-05000000000001", 7, 99 // the czxid of the queue node, and of one that was created again
	made := func(status legacy.Status, id string) []byte {
		data, err := legacyqueue.Encode(legacy.NewHeader(status, time.Unix(1, 0), legacy.Milliseconds), legacy.JSON, legacy.Payload{"jobID": id})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	migrated := made(legacy.Pending, "jid-1")
	is := func(data []byte, czxid int64) source.Fetched {
		decoded, err := legacy.Decode(znode.Name(record), data, legacy.Options{})
		f := source.Fetched{There: true, Stat: znode.Stat{Czxid: czxid}, Record: migration.Record{Path: record, Queue: migration.Ingest, Data: data, Legacy: decoded}}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	hidden := source.Fetched{There: true, Record: migration.Record{Path: record, Err: &legacy.Error{Kind: migration.Unreadable}}}
	for name, c := range map[string]struct {
		read                           source.Fetched
		queue                          int64
		handedOver, restored, fromDump bool
		want                           standing.RecordCondition
		another                        bool
	}{
		"as it was":                    {is(migrated, 8), queue, false, false, false, standing.AsMigrated, false},
		"other bytes":                  {is(made(legacy.Completed, "jid-1"), 8), queue, false, false, false, standing.Changed, false},
		"created again":                {is(migrated, 20), queue, false, false, false, standing.Changed, false},
		"created again by a restore":   {is(migrated, 20), again, false, true, false, standing.AsMigrated, false},
		"in another dump":              {is(migrated, 20), again, false, false, true, standing.AsMigrated, false},
		"not there":                    {source.Fetched{}, queue, false, false, false, standing.Absent, false},
		"can't be read":                {hidden, queue, false, false, false, standing.Unknown, false},
		"handed over":                  {source.Fetched{}, queue, true, false, false, standing.HandedOver, false},
		"handed over, and there again": {is(migrated, 20), queue, true, false, false, standing.ThereAgain, false},
		"handed over, and there again with others":         {is(made(legacy.Completed, "jid-1"), 20), queue, true, false, false, standing.ThereAgain, false},
		"its queue was made again, with its bytes":         {is(migrated, 20), again, false, false, false, standing.Changed, false},
		"its queue was made again, with another":           {is(made(legacy.Held, "jid-2"), 20), again, false, false, false, standing.Absent, true},
		"handed over, the queue made again, another":       {is(made(legacy.Held, "jid-2"), 20), again, true, false, false, standing.HandedOver, true},
		"its queue was made again, with it":                {is(made(legacy.Held, "jid-1"), 20), again, false, false, false, standing.Changed, false},
		"its queue was made again, with one without a key": {is(made(legacy.Held, ""), 20), again, false, false, false, standing.Absent, true},
		"one without a key":                                {is(made(legacy.Held, ""), 20), queue, false, false, false, standing.Changed, false},
		"another":                                          {is(made(legacy.Held, "jid-2"), 20), queue, false, false, false, standing.Absent, true},
		"another, after a restore":                         {is(made(legacy.Held, "jid-2"), 20), queue, false, true, false, standing.Absent, true},
		"another, after a restore, the queue made again":   {is(made(legacy.Held, "jid-2"), 20), again, false, true, false, standing.Absent, true},
		"handed over, and another":                         {is(made(legacy.Held, "jid-2"), 20), queue, true, false, false, standing.HandedOver, true},
		"its queue was made again, and it can't be read":   {hidden, again, false, false, false, standing.Unknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			run := &migration.Run{Restored: c.restored, Origin: migration.Origin{OneEnsemble: !c.fromDump, Czxids: map[string]int64{"/ingest": queue}}}
			e := &ledger.Migrated{Record: record, Job: "/jobs/jid0000000001", Hash: ledger.HashOf(sha256.Sum256(migrated)), Czxid: 8, Key: ledger.HashOfKey(rules.KeyOf(is(migrated, 8).Record)), HandedOver: c.handedOver}
			if f := standing.FactsOf(e, run, c.read, map[string]int64{"/ingest": c.queue}); f.Word() != c.want || f.Another != c.another {
				t.Errorf("%s, another: %t; expected %s, %t", f.Word(), f.Another, c.want, c.another)
			}
		})
	}
}
