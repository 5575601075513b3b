package migrate_test

import (
	"strings"
	"sync"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// TestStatusReadsEachRecordOnce: status reads each legacy record once, whether it was migrated, came later, or is at a worker.
func TestStatusReadsEachRecordOnce(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 6, 2)), d)
		s.mustMigrate(s.options())
		s.set(ingest(1), record(t, legacy.Consumed, job("0", "1")))
		s.create(ingest(8), record(t, legacy.Pending, job("8", "8")))
		s.create(ingest(9), record(t, legacy.Consumed, job("9", "9")))
		var mu sync.Mutex
		reads := map[string]int{}
		s.server.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			mu.Lock()
			defer mu.Unlock()
			codes, paths := append(op.Codes, op.Code), append(op.Paths, op.Path)
			for i, path := range paths {
				if codes[i] == minizk.OpGetData && strings.HasPrefix(path, "/ingest/") {
					reads[znode.Name(path)]++
				}
			}
			return false
		}})
		l := s.status().Legacy[0]
		var work []string
		for _, w := range l.AtWork {
			work = append(work, w.Path+" "+string(w.What))
		}
		if want := ingest(1) + " " + string(migration.ActivityConsumed) + "\n" + ingest(9) + " " + string(migration.ActivityConsumed); strings.Join(work, "\n") != want {
			t.Errorf("at work: %q, want %q", work, want)
		}
		mu.Lock()
		defer mu.Unlock()
		for name, n := range reads {
			if n != 1 {
				t.Errorf("%s was read %d times", name, n)
			}
		}
		if len(reads) != 8 || l.Records != 8 || l.Migrated != 5 {
			t.Errorf("%v, %+v", reads, l)
		}
	})
}
