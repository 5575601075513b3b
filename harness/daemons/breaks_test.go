package daemons_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// breaker damages a migrated tree through a session of its own.
type breaker struct {
	t    *testing.T
	conn *zk.Conn
	tree *znode.Tree // the tree before the damage
}

const goodInventory = `{"manifest_url":"http://store.example.org/manifest/9501/ark%3A%2F99999%2Ffk4x","mode":""}`

func (b *breaker) names() []string {
	pending := jobs(b.tree, "Pending")
	many := slices.IndexFunc(pending, func(job string) bool {
		return len(b.tree.Children(batchOf(b.tree, job)+"/states/batch-processing")) > 5
	})
	of := map[string]string{"alone": pending[0], "pending": pending[many], "batch": batchOf(b.tree, pending[many]), "held": jobs(b.tree, "Held")[0]}
	in := func(state string) string {
		all := jobs(b.tree, state)
		return all[slices.IndexFunc(all, func(job string) bool { return job != of["pending"] && batchOf(b.tree, job) == of["batch"] })]
	}
	of["second"], of["failed"], of["done"] = in("Pending"), in("Failed"), in("Completed")
	for _, bid := range b.tree.Children("/batches") {
		o := object(b.t, b.tree.Get("/batches/"+bid+"/status").Data)
		switch {
		case o["status"] == "Completed":
			of["finished"] = "/batches/" + bid
		case o["status"] == "Failed" && len(b.tree.Children("/batches/"+bid+"/states/batch-completed")) > 0:
			of["lost"] = "/batches/" + bid
		}
	}
	of["access"] = "/access/small/" + b.tree.Children("/access/small")[0]
	all := []string{"{entry}", b.entry(of["pending"]), "{alone's batch}", batchOf(b.tree, of["alone"]),
		"{batch's batchID}", fmt.Sprint(object(b.t, b.tree.Get(of["batch"]+"/submission").Data)["batchID"]),
		"{store}", `{"manifest_url":"http://ingest.example.org/m","mode":"add/9501/ark%3A%2F99999%2Ffk4x","delete":""}`,
		"{inventory}", goodInventory}
	for name, path := range of {
		all = append(all, "{"+name+"}", path, "{"+name+"'s name}", znode.Name(path))
	}
	return all
}

func object(t *testing.T, data []byte) newqueue.Object { return value(newqueue.ParseObject(data))(t) }

func (b *breaker) entry(job string) string {
	state := strings.ToLower(fmt.Sprint(object(b.t, b.tree.Get(job+"/status").Data)["status"]))
	return fmt.Sprintf("/jobs/states/%s/%02s-%s", state, b.tree.Get(job+"/priority").Data, znode.Name(job))
}

func (b *breaker) write(path, data string) {
	_, err := b.conn.Set(path, []byte(data), -1)
	if errors.Is(err, zk.ErrNoNode) {
		_, err = b.conn.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	}
	must(b.t, err)
}

func (b *breaker) set(path, key, data string) {
	text, _, err := b.conn.Get(path)
	must(b.t, err)
	o := object(b.t, text)
	if delete(o, key); data != "" {
		o[key] = object(b.t, []byte(`{"value":`+data+`}`))["value"]
	}
	b.write(path, string(value(o.Marshal())(b.t)))
}

func (b *breaker) remove(path string) {
	names, _, err := b.conn.Children(path)
	must(b.t, err)
	for _, name := range names {
		b.remove(path + "/" + name)
	}
	must(b.t, b.conn.Delete(path, -1))
}

type damage struct {
	id, what string // the demand that it breaks
	changes  []string
	// outside: it damages znodes that are part of no migrated job, request or batch. The check finds that. Verify
	// only looks at what a run made.
	outside bool
	cleanup bool // only the hourly cleanup notices it
}

func damages(t *testing.T) (all []damage) {
	for line := range strings.Lines(string(value(os.ReadFile("testdata/broken.txt"))(t))) {
		line = strings.TrimSuffix(line, "\n")
		switch id, what, _ := strings.Cut(line, " "); {
		case line == "" || line[0] == '#':
		case id != "":
			all = append(all, damage{id: id, what: what})
		case strings.TrimSpace(line) == "no part of a migrated item":
			all[len(all)-1].outside = true
		case strings.TrimSpace(line) == "only the cleanup sees it":
			all[len(all)-1].cleanup = true
		default:
			all[len(all)-1].changes = append(all[len(all)-1].changes, strings.TrimSpace(line))
		}
	}
	return all
}

func (b *breaker) do(d damage) {
	names := strings.NewReplacer(b.names()...)
	for _, change := range d.changes {
		word := append(strings.SplitN(names.Replace(change), " ", 3), "")
		switch op, path, rest := word[0], word[1], word[2]; op {
		case "set":
			key, data, _ := strings.Cut(rest, " ")
			b.set(path, key, data)
		case "write":
			b.write(path, rest)
		case "remove":
			b.remove(path)
		case "at":
			entry := b.entry(path)
			b.remove(entry)
			b.set(path+"/status", "status", `"`+rest+`"`)
			b.write("/jobs/states/"+strings.ToLower(rest)+"/"+znode.Name(entry), "")
		default:
			b.t.Fatalf("%s: %q is no change", d.what, change)
		}
	}
}

// adminPage is an effect that is not simulated.
var adminPage = services.Stop{Daemon: services.Admin, Effect: services.BreaksPage}

// falsely says what is wrong with the findings about a demand, "" for nothing. The effect that
// a finding names is one of the troubles. If only rules of the map found it, which name
// none, an effect that the map gives them is. The admin tool's pages are not simulated.
func falsely(m *layout.Map, tree *znode.Tree, id string, found []layout.Finding, troubles []daemons.Trouble) string {
	named := false
	for _, f := range found {
		if !strings.HasPrefix(f.Rule, id) || id == "R02" {
			continue
		}
		named = true
		if !says(f, adminPage) &&
			!slices.ContainsFunc(troubles, func(t daemons.Trouble) bool { return happened(tree, f, t) }) {
			return f.Path + ": " + f.Found
		}
	}
	var stops []string // as merritt.yaml names them
	for _, f := range found {
		if of, then, _ := strings.Cut(m.Rule(f.Rule).Then, ": "); of == id {
			stops = append(stops, strings.Split(then, "; ")...)
		}
	}
	for _, d := range services.Requirements {
		for _, by := range d.By {
			if id == "R02" && d.ID == id { // a lock's finding does not name its effect
				stops = append(stops, fmt.Sprint(d.Then, " ", by))
			}
		}
	}
	happened := func(t daemons.Trouble) bool { return slices.Contains(stops, fmt.Sprint(t.Effect, " ", t.Daemon)) }
	switch simulated := slices.ContainsFunc(stops, func(s string) bool { return !strings.HasSuffix(s, " Admin") }); {
	case len(stops) == 0 && !named:
		return fmt.Sprintf("no finding is about %s: %v", id, found)
	case !named && simulated && !slices.ContainsFunc(troubles, happened):
		return fmt.Sprintf("%v: %v", found, stops)
	}
	return ""
}

// If a demand is broken, the check finds that, verify finds it as damage or as acted on,
// and a simulated daemon does what the finding says, or what the map says.
func TestEveryBrokenRequirementIsFoundAndStopsItsDaemon(t *testing.T) {
	s := migrated(t, deployed(t))
	clean := s.tree(t)
	if all := findings(t, clean); len(all) > 0 {
		t.Fatalf("before anything is broken: %v", all)
	}
	all := damages(t)
	var mu sync.Mutex
	named := map[string]bool{} // the rules that a check found
	t.Cleanup(func() {
		for _, d := range services.Requirements {
			if rule := strings.TrimSuffix(d.ID+"/"+d.Node, "/"); d.Key == "" && !named[rule] {
				t.Errorf("nothing breaks %s", rule)
			}
		}
		for i := 1; i <= 33; i++ {
			if id := fmt.Sprintf("R%02d", i); !slices.ContainsFunc(all, func(d damage) bool { return d.id == id }) {
				t.Errorf("nothing breaks %s", id)
			}
		}
	})
	for _, damage := range all {
		t.Run(damage.id+" "+damage.what, func(t *testing.T) {
			t.Parallel()
			s := serve(t, clean)
			(&breaker{t: t, conn: s.dial(t), tree: clean}).do(damage)
			tree := s.tree(t)

			found := findings(t, tree)
			mu.Lock()
			for _, f := range found {
				named[f.Rule] = true
			}
			mu.Unlock()
			verdict := value(migrate.Verify(t.Context(), s.source(t), &s.open(t).Reader, migrate.VerifyOptions{}))(t)
			if verdict.CountGroup("damage")+verdict.Count("acted-on") == 0 && !damage.outside {
				t.Error("verify finds nothing")
			}

			w := s.services(t)
			if damage.cleanup {
				must(t, w.Clean())
			}
			must(t, w.Run())
			for _, job := range jobs(tree, "Held") {
				_ = w.Do(daemons.ReleaseJob, znode.Name(job)) // the damage may prevent it
			}
			must(t, w.Run())
			must(t, w.Leftovers())
			if wrong := falsely(deployedMap(t), tree, damage.id, found, w.Troubles); wrong != "" {
				t.Errorf("%s\nbut the services did %v", wrong, w.Troubles)
			}
		})
	}
}
