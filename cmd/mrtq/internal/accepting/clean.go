package accepting

import (
	"context"
	"fmt"
	"time"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness"
)

// removeLeftovers removes the chroots of killed runs at an address. It keeps the
// chroot of a run whose process may still be running, unless --force is given.
func (c *acceptCmd) removeLeftovers(ctx context.Context) error {
	backend, err := harness.ParseBackend(c.backend)
	if err != nil {
		return exit.Usagef("--backend: %w", err)
	}
	if !backend.IsAddress() {
		return exit.Usagef("--clean works only at an address: add --backend ADDRESS with the address of the killed run")
	}
	opt, _, err := c.reach(backend)
	if err != nil {
		return err
	}
	found, err := harness.Leftovers(ctx, backend, opt)
	if err != nil {
		return err
	}
	var rows []screen.Row
	removed := 0
	for _, left := range found {
		what := "removed"
		switch {
		case !c.force && !left.Ended():
			what = "kept: its process may still be running"
		default:
			if err := harness.RemoveLeftover(ctx, backend, opt, left); err != nil {
				return err
			}
			removed++
		}
		host, process, made, ok := left.Maker()
		if !ok {
			rows = append(rows, screen.Row{left.Path, "unknown", "", what})
			continue
		}
		rows = append(rows, screen.Row{left.Path, fmt.Sprintf("process %d on %s", process, host), made.Format(time.RFC3339), what})
	}
	c.Table("", []string{"CHROOT", "CREATED BY", "AT", "OUTCOME"}, rows)
	switch left := len(found) - removed; {
	case len(found) == 0:
		c.Conclude(screen.Good, "Accept: nothing to remove: no run left anything behind.")
	case left > 0:
		c.Conclude(screen.Attention, "Accept: %s removed, %d kept. If no mrtq accept or rehearse is running there, add --force.", screen.Count(removed, "chroot", "chroots"), left)
	default:
		c.Conclude(screen.Good, "Accept: %s removed.", screen.Count(removed, "chroot", "chroots"))
	}
	return nil
}
