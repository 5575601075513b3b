package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// A run is written in this format. Records of the oldest one are read, too.
const format, oldestFormat = 6, 5

// EncodeRun returns the data of a run's znode.
func EncodeRun(r migration.Run) []byte {
	r.Format = format
	b, err := json.Marshal(r)
	if err != nil {
		panic("ledger: a Run is always JSON: " + err.Error())
	}
	return b
}

// ParseRun reads the record of a run from its znode. The error is a [*DamageError], or says that another
// version of mrtq wrote the record.
func ParseRun(n znode.Node) (migration.Run, error) {
	var r migration.Run
	damaged := func(what string, args ...any) (migration.Run, error) {
		return migration.Run{}, &DamageError{Path: n.Path, What: fmt.Sprintf(what, args...)}
	}
	var form struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(n.Data, &form); err != nil {
		return damaged("it can't be read as a run's record: %v", err)
	}
	if form.Format < oldestFormat || form.Format > format { // its other fields may have other types
		return migration.Run{}, fmt.Errorf("another version of mrtq has migrated to this target: %s has format %d, and this version reads formats %d to %d; use that version", n.Path, form.Format, oldestFormat, format)
	}
	if err := json.Unmarshal(n.Data, &r); err != nil {
		return damaged("it can't be read as a run's record: %v", err)
	}
	switch {
	case r.ID != znode.Name(n.Path):
		return damaged("it is the record of %q", r.ID)
	case !slices.Contains([]migration.RunState{migration.RunRunning, migration.RunDone, migration.RunRollingBack, migration.RunRolledBack}, r.State):
		return damaged("it has the unknown state %q", r.State)
	case !slices.Contains(newqueue.Dialects, r.Dialect):
		return damaged("it has the unknown dialect %q", r.Dialect)
	case r.Choices.Validate() != nil:
		return damaged("%v", r.Choices.Validate())
	}
	r.Stat = n.Stat
	r.Restored = r.Restored || r.RestoredUnnoted()
	return r, nil
}

// Newest returns the data of /jobs: the id of the newest run, on one line.
func Newest(run string) []byte { return []byte(run + "\n") }

// ParseNewest reads the data of /jobs. It is "" if no run wrote it.
func ParseNewest(data []byte) string {
	if name := string(bytes.TrimSuffix(data, []byte("\n"))); migration.IsRunID(name) {
		return name
	}
	return ""
}
