package migrate

import (
	"fmt"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// order: among jobs of one state and priority the new queue hands out the
// lowest id first, among access requests of one state whatever their priority
// was; that must be the order in which the old queue would have handed out their
// records ([legacy.Key.Compare]).
func (v *verifier) order() {
	names := v.target.names
	last := make([]*verifiedRow, len(v.lanes))
	for i := range v.jobs {
		row := &v.jobs[i]
		if before := last[row.lane]; before != nil && before.run == row.run {
			record, earlier := names.text(row.record), names.text(before.record)
			if keyOfPath(earlier).Compare(keyOfPath(record)) > 0 {
				v.differ(OutOfOrder, names.text(row.root), fmt.Sprintf("%s comes after %s (%s), but the old queue would have handed it out first: to put it right, roll the run back and migrate again",
					record, earlier, znode.Name(names.text(before.root))))
			}
		}
		last[row.lane] = row
	}
}

// keyOfPath is the key of a record that was decoded.
func keyOfPath(record string) legacy.Key {
	key, err := legacy.ParseKey(znode.Name(record))
	if err != nil {
		panic("migrate: a record that was decoded has a key: " + err.Error())
	}
	return key
}
