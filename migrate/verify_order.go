package migrate

import (
	"fmt"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// order checks the order of the ids. Workers of the new queue acquire the lowest id first,
// among jobs of one state and priority and among access requests of one state. The old
// queue must have had their records in the same order ([legacy.Key.Compare]).
func (v *verifier) order() {
	names := v.target.names
	last := map[lane]*verifiedRow{}
	for i := range v.jobs {
		row := &v.jobs[i]
		l := v.lanes.all[row.lane]
		if before := last[l.lane]; before != nil && before.lane == row.lane {
			root, record := v.named(*row)
			other, earlier := v.named(*before)
			if keyOfPath(names.text(earlier)).Compare(keyOfPath(names.text(record))) > 0 {
				v.differ(OutOfOrder, names.text(root), fmt.Sprintf("%s comes after %s (%s), but the old queue would have handed it out first: to put it right, roll the run back and migrate again",
					names.text(record), names.text(earlier), znode.Name(names.text(other))))
			}
		}
		last[l.lane] = row
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
