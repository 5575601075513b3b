package migrate

import (
	"errors"
	"fmt"
	"strings"

	"mrtq/internal/znode"
)

// ErrReleased says that a migration would hold queues that were released after an
// earlier run, and that workers may be at work on.
var ErrReleased = errors.New("the new queues were released, and this migration would hold them again")

// HoldsAgain are the holds that the plan sets though they were lifted after the
// newest run was done. A late record must not stop a queue at work unasked.
func (p *Plan) HoldsAgain() []string {
	if last, ok := p.ex.newest(); !ok || last.State != RunDone {
		return nil
	}
	return p.holds
}

// released is ErrReleased, if the plan would hold a queue again.
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
