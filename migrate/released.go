package migrate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// ErrReleased says that a migration would hold queues which were released after an earlier run.
// Workers may be at work on them.
var ErrReleased = errors.New("the new queues were released, and this migration would hold them again")

// HoldsAgain are the holds that the plan would set although they were lifted after the newest
// run was done. A late record must not stop a working queue unless the operator asks for it.
func (p *Plan) HoldsAgain() []string {
	for _, run := range slices.Backward(p.ex.runs) {
		switch run.State {
		case RunRolledBack: // it left something; the queues are held or released as before that run
		case RunDone:
			return p.holds
		default:
			return nil
		}
	}
	return nil
}

// released returns ErrReleased if the plan would hold a queue again.
func (p *Plan) released() error {
	again := p.HoldsAgain()
	if len(again) == 0 {
		return nil
	}
	return fmt.Errorf("%w (%s)", ErrReleased, strings.Join(holdNames(again), ", "))
}

func holdNames(paths []string) (names []string) {
	for _, path := range paths {
		names = append(names, znode.Name(path))
	}
	return names
}
