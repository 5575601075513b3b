// Package practice lets a person at a terminal tell the simulated workers of a disposable server
// when to work, as people start and stop services during a cutover.
package practice

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness/rehearse"
)

// usage says what can be typed.
var usage = []string{
	"Simulated workers do what you type, one at a time:",
	"  inventory      the legacy inventory service finishes its queue",
	"  legacy [N]     the legacy workers begin N records, or all",
	"  services [N]   the new services start, begin N records, or all, and stop",
	"An empty line stops them.",
}

// mostTroubles is how many troubles are listed.
const mostTroubles = 10

// Run does what the lines of in say until ctx ends.
func Run(ctx context.Context, s *screen.Screen, in io.Reader, p *rehearse.Practice) {
	explain(s)
	lines := make(chan string)
	go func() { // it ends with the process, because nothing can interrupt a read of a terminal
		for read := bufio.NewScanner(in); read.Scan(); {
			lines <- read.Text()
		}
	}()
	stop := func() bool {
		select {
		case line := <-lines:
			if strings.TrimSpace(line) == "" {
				return true
			}
			s.Say("%q is ignored while others work; press Enter to stop them", line)
		default:
		}
		return false
	}
	for {
		select {
		case <-ctx.Done():
			return
		case line := <-lines:
			if strings.TrimSpace(line) == "" {
				continue
			}
			team, n, err := parse(line)
			if err != nil {
				s.Say("%v", err)
				explain(s)
				continue
			}
			if err := work(ctx, s, p, team, n, stop); err != nil && ctx.Err() == nil {
				s.Say("%s: %v", team, err)
			}
		}
	}
}

func explain(s *screen.Screen) {
	for _, line := range usage {
		s.Say("%s", line)
	}
}

// parse returns who is to work, and on how many records; 0 means all.
func parse(line string) (team rehearse.Team, n int, err error) {
	who, number, has := strings.Cut(strings.TrimSpace(line), " ")
	switch team = rehearse.Team(who); team {
	case rehearse.LegacyInventory, rehearse.LegacyWorkers, rehearse.Services:
	default:
		return team, 0, fmt.Errorf("%q: nobody has this name", who)
	}
	if !has {
		return team, 0, nil
	}
	if n, err = strconv.Atoi(strings.TrimSpace(number)); err != nil || n < 1 || team == rehearse.LegacyInventory {
		return team, 0, fmt.Errorf("%q: expected legacy or services, and a number of records from 1", line)
	}
	return team, n, nil
}

// work lets a team work, and says what it did, and what all have done so far.
func work(ctx context.Context, s *screen.Screen, p *rehearse.Practice, team rehearse.Team, n int, stop func() bool) error {
	before := p.Tally()
	show, finish := s.Progress(string(team), "records begun")
	err := p.Work(ctx, team, n, stop, func(done int) { show(done, cmp.Or(n, done)) })
	finish()
	if err != nil {
		return err
	}
	now := p.Tally()
	s.Say("%s: %s; they have stopped", team, counts(&now, &before))
	troubles := slices.Concat(now.Troubles[len(before.Troubles):], now.Stuck[len(before.Stuck):])
	for i, trouble := range troubles {
		if i == mostTroubles {
			s.Say("  and %d more", len(troubles)-i)
			break
		}
		s.Say("  %s", trouble)
	}
	twice := "nothing was done twice"
	if len(now.Twice) > 0 {
		twice = "done twice: " + strings.Join(now.Twice, ", ")
	}
	s.Say("so far: %s; %s", counts(&now, &rehearse.Tally{}), twice)
	return nil
}

// counts are what was done since before.
func counts(now, before *rehearse.Tally) string {
	text := fmt.Sprintf("%s begun, %s stored, %d recorded in the inventory, %s assembled", screen.Count(now.Begun-before.Begun, "record", "records"),
		screen.Count(now.Stored-before.Stored, "object", "objects"), now.Recorded-before.Recorded, screen.Count(now.Assembled-before.Assembled, "access request", "access requests"))
	if n := now.Removed - before.Removed; n > 0 {
		text += ", " + screen.Count(n, "batch", "batches") + " removed by the cleanup"
	}
	return text
}
