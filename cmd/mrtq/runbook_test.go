package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/features"
	"mrtq/harness"
	"mrtq/harness/daemons"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
)

var torture = flag.Bool("torture", false, "follow the runbook also on three servers, and kill one of them between its steps")

// night is one way through the runbook: its steps in order, and what people and services do before
// the commands of a step.
type night struct {
	name, steps string
	before      map[string]func(*runbookSite)
	submits     string             // the steps before whose commands a depositor submits a record to the legacy queue
	end         func(*runbookSite) // after the last command
}

var nights = []night{
	{"to the end", "Before 1 2 3 4 5 6 7 8 9", map[string]func(*runbookSite){"8": (*runbookSite).services}, "", (*runbookSite).workedOnce},
	{"to the end, beside a submitter", "Before 1 2 3 4 5 6 7 8 9", map[string]func(*runbookSite){"8": (*runbookSite).services}, "4 5 6 7 8", (*runbookSite).servicesWorkedOnce},
	{"back before the release", "Before 1 2 3 4 5 6 B1 B2 B3", nil, "", (*runbookSite).legacyWorkedOnce},
	{"back after the release", "Before 1 2 3 4 5 6 7 B1 B2 B3", nil, "", (*runbookSite).legacyWorkedOnce},
	{"back after the first jobs", "Before 1 2 3 4 5 6 7 B4 B5 B6 B7 B8 B9",
		map[string]func(*runbookSite){"B4": (*runbookSite).firstJobs, "B7": (*runbookSite).legacyWorkers}, "", (*runbookSite).servicesWorkedOnce},
	{"back beside a submitter", "Before 1 2 3 4 5 6 7 8 B4 B5 B6 B7 B8 B9",
		map[string]func(*runbookSite){"8": (*runbookSite).firstJobs, "B7": (*runbookSite).legacyWorkers}, "4 5 6 7 8 B5", (*runbookSite).servicesWorkedOnce},
}

// isOf reports whether a section of the runbook is of a step: 3.1 is of 3.
func isOf(section, step string) bool {
	of, _, _ := strings.Cut(strings.Fields(section)[0], ".")
	return of == step
}

var saidToProceed = regexp.MustCompile("\\*Proceed when\\*[^.]* says `([^`]*)`")

// TestRunbook follows docs/night.md literally, on each way through it. Its commands are those of the
// page, which must print what the page says. -update takes the screens again.
func TestRunbook(t *testing.T) {
	const path = "../../docs/night.md"
	text := value(os.ReadFile(path))(t)
	page := string(text)
	screens := pageScreens(page)
	shown := map[*pageScreen]string{}
	followRunbook(t, nights, screens, harness.TestBackend(), harness.Options{}, func(t *testing.T, s *pageScreen, got string) {
		if _, seen := shown[s]; !seen {
			shown[s] = got
			if !*update && s.shown && !s.matches(got) {
				t.Errorf("%s\nprints\n%s\nthe page has\n%s", s.commands, got, s.want)
			}
			if quote := saidToProceed.FindStringSubmatch(s.after); quote != nil && !strings.Contains(got, quote[1]) {
				t.Errorf("%s: it does not say %q:\n%s", s.section, quote[1], got)
			}
		}
	})
	printed := make([]string, len(screens))
	for i, s := range screens {
		got, seen := shown[s]
		if printed[i] = got; !seen {
			t.Errorf("%d: no way through the runbook runs: %s", i, s.commands)
		}
	}
	if *update && !t.Failed() {
		must(t, os.WriteFile(path, []byte(updated(page, screens, printed)), 0o600))
	}
}

// TestRunbookQuotes: what the runbook quotes in "What can go wrong" is what the commands say, as the
// scripts hold it.
func TestRunbookQuotes(t *testing.T) {
	page := value(os.ReadFile("../../docs/night.md"))(t)
	var said strings.Builder
	for _, pattern := range []string{"testdata/script/*", "testdata/server/*", "testdata/screen/*"} {
		found := value(filepath.Glob(pattern))(t)
		for _, path := range found {
			text := value(os.ReadFile(path))(t)
			said.Write(text)
		}
	}
	_, section, _ := strings.Cut(string(page), "\n## What can go wrong\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(section, -1)
	if len(rows) < 15 {
		t.Errorf("%d headings", len(rows))
	}
	for _, row := range rows {
		for _, quote := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(row[1], -1) {
			if !strings.Contains(said.String(), quote[1]) {
				t.Errorf("no command says %q", quote[1])
			}
		}
	}
}

// TestRunbookOnEnsemble follows the runbook on three servers. Between two commands, one of them is
// killed and the one before is started again.
func TestRunbookOnEnsemble(t *testing.T) {
	if !*torture {
		t.Skip("skipped: it takes some minutes; it runs only with -torture")
	}
	text := value(os.ReadFile("../../docs/night.md"))(t)
	followRunbook(t, nights, pageScreens(string(text)), harness.JVM, harness.Options{Nodes: 3, TickTime: 500 * time.Millisecond}, nil)
}

// followRunbook follows these ways through the runbook, each in its own chroot of one server. look is
// called with what each command printed; nil kills a server before each.
func followRunbook(t *testing.T, ways []night, screens []*pageScreen, on harness.Backend, opt harness.Options, look func(*testing.T, *pageScreen, string)) {
	server := harness.ForTest(t, on, opt)
	killed := 0
	for i, n := range ways {
		t.Run(n.name, func(t *testing.T) {
			site := newRunbookSite(t, server.Address(), "/night"+string(rune('a'+i)))
			next := nextSteps{t: t}
			for _, step := range strings.Fields(n.steps) {
				if act := n.before[step]; act != nil {
					act(site)
				}
				switch step {
				case "B1", "B4": // somebody has decided to go back
					next.due = nil
				}
				for _, s := range screens {
					if !isOf(s.section, step) {
						continue
					}
					if look == nil {
						site.must(server.Restart(t.Context(), killed%3))
						killed++
						site.must(server.Kill(killed % 3))
					}
					if slices.Contains(strings.Fields(n.submits), step) {
						site.submit()
					}
					var got string
					switch s.section {
					case "8.2 Follow":
						site.follow(s.commands)
					case "9.3 Move the last records":
						site.endFollow()
						fallthrough
					default:
						var code int
						if got, code = site.terminal.run(t, s.commands); code != 0 {
							t.Fatalf("%s\nexit code %d\n%s", s.commands, code, got)
						}
					}
					next.after(s.commands, got)
					if look != nil {
						look(t, s, got)
					}
				}
			}
			next.atEnd(screens)
			n.end(site)
		})
	}
}

type nextSteps struct {
	t   *testing.T
	due []string // the commands of which the page must give one before a screen names another
}

var commandBelow = regexp.MustCompile(`(?m)^ {2,4}(mrtq .*)$`)

func (n *nextSteps) after(commands, printed string) {
	n.t.Helper()
	n.follow(commands)
	var named []string
	for _, m := range commandBelow.FindAllStringSubmatch(printed, -1) {
		named = append(named, m[1])
	}
	if len(named) == 0 {
		return
	}
	if len(n.due) > 0 && !slices.Equal(n.due, named) {
		n.t.Errorf("a screen names %q as the next step, and the page has %q, which names %q", n.due, commands, named)
	}
	n.due = named
}

// follow notes that the page gives one of the commands that are due. It may add flags.
func (n *nextSteps) follow(commands string) {
	given := strings.Fields(strings.NewReplacer("$SOURCE", pageServer, "$TARGET", pageServer+"/new").Replace(commands))
	for _, command := range n.due {
		if !slices.ContainsFunc(strings.Fields(command), func(word string) bool { return !slices.Contains(given, word) }) {
			n.due = nil
			return
		}
	}
}

func (n *nextSteps) atEnd(screens []*pageScreen) {
	for _, s := range screens {
		n.follow(s.commands)
	}
	if len(n.due) > 0 {
		n.t.Errorf("the last screen names %q, and the page has no such command", n.due)
	}
}

// runbookSite is a legacy queue as the deployed services leave it, and all who work on it and on
// the new queue.
type runbookSite struct {
	t        *testing.T
	terminal *pageTerminal
	world    *daemons.World
	queue    *znode.Tree // as it was before the night
	pending  []string    // the jobID or token of each record that is to be worked

	submitted int
	endFollow func()
}

func newRunbookSite(t *testing.T, servers, chroot string) *runbookSite {
	s := &runbookSite{t: t, terminal: newPageTerminal(t, servers+chroot)}
	queue, err := znode.ReadDump(strings.NewReader(features.Deployed))
	s.must(err)
	s.queue = queue
	in := filepath.Join(s.terminal.dir, "in.ndjson")
	f, err := os.Create(in)
	s.must(err)
	s.must(znode.WriteDump(f, queue))
	s.must(f.Close())
	if said, code := s.terminal.run(t, "mrtq restore "+pageServer+" --in in.ndjson"); code != 0 {
		t.Fatal(said)
	}
	s.must(os.Remove(in))
	for _, path := range queue.Paths("/") {
		if r, err := legacy.Decode(znode.Name(path), queue.Get(path).Data, legacy.Options{}); err == nil && r.Header.Status == legacy.Pending {
			for _, key := range []string{"jobID", "token"} {
				if id, has := r.Payload.Text(key); has {
					s.pending = append(s.pending, id)
				}
			}
		}
	}
	connect := func() (daemons.Session, error) {
		c, _, err := zk.Connect(strings.Split(servers, ","), 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(noLog{}))
		return c, err
	}
	s.world = daemons.New(daemons.Options{New: daemons.Site{Connect: connect, Root: chroot + "/new"}, Legacy: daemons.Site{Connect: connect, Root: chroot}})
	t.Cleanup(s.world.Close)
	return s
}

type noLog struct{}

// Printf prints nothing.
func (noLog) Printf(string, ...any) {}

func (s *runbookSite) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *runbookSite) services() {
	s.t.Helper()
	s.must(s.world.Start())
	s.must(s.world.Run())
}

// submit submits a record to the legacy queue, as a depositor does.
func (s *runbookSite) submit() {
	s.t.Helper()
	s.submitted++
	old := s.queue.Get("/ingest/mrtQ-05000000000001")
	if old == nil {
		s.t.Fatal("no record to copy")
	}
	n := 500 + s.submitted
	changed := []string{"jid-00000001-", fmt.Sprintf("jid-%08d-", n), "loc-1;", fmt.Sprintf("l%04d;", n)}
	if n%2 == 0 { // a batch of its own, else that of the other record
		changed = append(changed, "bid-00000001-", fmt.Sprintf("bid-%08d-", n))
	}
	data := []byte(strings.NewReplacer(changed...).Replace(string(old.Data)))
	record := fmt.Sprintf("/ingest/mrtQ-05000000000%03d", n)
	site := s.world.Legacy
	conn, err := site.Connect()
	s.must(err)
	defer conn.Close()
	_, err = conn.Create(site.Root+record, data, 0, zk.WorldACL(zk.PermAll))
	for errors.Is(err, zk.ErrNoServer) { // it was not sent: one server of three is down, and the client has tried that
		_, err = conn.Create(site.Root+record, data, 0, zk.WorldACL(zk.PermAll))
	}
	s.must(err)
	r, err := legacy.Decode(znode.Name(record), data, legacy.Options{})
	s.must(err)
	id, _ := r.Payload.Text("jobID")
	s.pending = append(s.pending, id)
}

// follow starts follow in a terminal of its own. It must end without an error at the next endFollow, or say that the migration was rolled back.
func (s *runbookSite) follow(command string) {
	s.t.Helper()
	var said bytes.Buffer
	cmd := s.terminal.command("exec " + command)
	cmd.Stdout, cmd.Stderr = &said, &said
	s.must(cmd.Start())
	s.endFollow = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil && !strings.Contains(said.String(), migrate.ErrRolledBack.Error()) {
			s.t.Errorf("%s: %v\n%s", command, err, &said)
		}
	})
	s.t.Cleanup(s.endFollow)
}

func (s *runbookSite) firstJobs() {
	s.t.Helper()
	s.must(s.world.Start())
	for range 4 {
		for _, a := range s.world.Workers() {
			_, err := a.Step()
			s.must(err)
		}
	}
}

func (s *runbookSite) legacyWorkers() {
	s.t.Helper()
	for worked := true; worked; {
		worked = false
		for _, a := range s.world.LegacyWorkers() {
			did, err := a.Step()
			s.must(err)
			worked = worked || did
		}
	}
}

// workedOnce: the work of each record that was to be worked was done once, and of no record twice.
func (s *runbookSite) workedOnce() {
	s.t.Helper()
	done := s.world.Executions()
	for id, e := range done {
		if e.Times() > 1 {
			s.t.Errorf("the work of %s was done twice: %+v", id, e)
		}
	}
	for _, id := range s.pending {
		if done[id].Times() == 0 {
			s.t.Errorf("the work of %s was not done", id)
		}
	}
}

// servicesWorkedOnce: when the services have worked what is there now, the work of each record was
// done once.
func (s *runbookSite) servicesWorkedOnce() {
	s.t.Helper()
	s.services()
	s.workedOnce()
}

// legacyWorkedOnce: after the way back, the legacy workers do the work of each record once.
func (s *runbookSite) legacyWorkedOnce() {
	s.t.Helper()
	s.legacyWorkers()
	s.workedOnce()
}
