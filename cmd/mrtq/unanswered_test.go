package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/harness/minizk"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
)

// commands are all commands that use a server, and those that must have run before. SOURCE and TARGET stand for the two
// sides, and FILE for a dump of a legacy queue.
var commands = func() map[string][]string {
	restored := []string{"restore SOURCE --in FILE"}
	migrated := append(slices.Clip(restored), "migrate SOURCE TARGET --new-queue --dialect design")
	released := append(slices.Clip(migrated), "release TARGET")
	return map[string][]string{
		"restore SOURCE --in FILE": nil,
		"inspect SOURCE":           restored,
		"dump SOURCE":              restored,
		"plan SOURCE TARGET --new-queue --dialect design":    restored,
		"rehearse SOURCE --dialect design":                   restored,
		"migrate SOURCE TARGET --new-queue --dialect design": restored,
		"verify TARGET":                    migrated,
		"status TARGET":                    migrated,
		"show TARGET jid0000000001":        migrated,
		"check TARGET":                     migrated,
		"hold TARGET":                      migrated,
		"release TARGET --collection none": migrated,
		"release TARGET":                   migrated,
		"rollback TARGET --yes":            migrated,
		"complete TARGET --yes":            released,
	}
}()

type stage struct {
	*minizk.Server
	words *strings.Replacer
}

func newStage(t *testing.T, before []string) *stage {
	t.Helper()
	server := value(minizk.Start(minizk.Options{RealTime: true}))(t)
	t.Cleanup(func() { server.Close() })
	queue := value(legacyqueue.Make(legacyqueue.Options{Records: 30, Seed: 1}))(t)
	var dump bytes.Buffer
	must(t, znode.WriteDump(&dump, queue))
	dir := t.TempDir()
	file := filepath.Join(dir, "queue.ndjson")
	must(t, os.WriteFile(file, dump.Bytes(), 0o600))
	s := &stage{server, strings.NewReplacer("SOURCE", server.Addr()+"/old", "TARGET", server.Addr()+"/new",
		"FILE", file)}
	for _, command := range before {
		if code, said := s.run(command); code != exit.Done {
			t.Fatalf("mrtq %s: %d\n%s", command, code, said)
		}
	}
	return s
}

func (s *stage) run(command string) (code int, said string) {
	var out bytes.Buffer
	code = run(append(strings.Fields(s.words.Replace(command)), "--timeout", "2s"), &out, &out)
	return code, out.String()
}

// TestLostAnswers: under each command, one answer of each kind of request is lost, while pings are answered. The command
// does the same as without that.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for command, before := range commands {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, before)
			var mu sync.Mutex
			kinds := map[minizk.OpCode]bool{}
			s.Inject(minizk.Fault{On: func(op minizk.Op) bool {
				mu.Lock()
				defer mu.Unlock()
				if op.Code != minizk.OpPing { // the clock decides whether there is one
					kinds[op.Code] = true
				}
				return false
			}})
			want, said := s.run(command)
			if want > exit.Failed {
				t.Fatalf("without a loss: %d\n%s", want, said)
			}
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				t.Run(kind.String(), func(t *testing.T) {
					s := newStage(t, before)
					lost := s.Inject(minizk.Fault{On: minizk.OnOp(kind), Nth: 1, Do: minizk.Swallow()})
					began := time.Now()
					got, said := s.run(command)
					if took := time.Since(began); got != want || took > time.Minute || lost.Fired() != 1 {
						t.Errorf("%d after %s, want %d\n%s", got, took, want, said)
					}
				})
			}
		})
	}
}

// TestServerThatStalls: a server stalls in the middle of each command. The command ends after --timeout, not after the
// session's.
func TestServerThatStalls(t *testing.T) {
	t.Parallel()
	for command, before := range commands {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, before)
			met := 0
			s.Inject(minizk.Fault{On: func(minizk.Op) bool { met++; return met > 3 }, Do: minizk.Hold(nil)})
			began := time.Now()
			code, said := s.run(command)
			if took := time.Since(began); code != exit.Environment || took > 8*time.Second {
				t.Errorf("%d after %s\n%s", code, took, said)
			}
			if strings.HasPrefix(command, "verify") && !strings.Contains(said, "\nNext:\n  mrtq "+s.words.Replace(command)) {
				t.Errorf("it does not say what is next:\n%s", said)
			}
		})
	}
}
