package planpage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// TestAddsUp: the numbers of pages about plans of generated queues add up: every tile and every
// table, with each other and with the plan.
func TestAddsUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := generatedPlan(t, seed)
			v := newContent(&Data{Plan: p})
			tiles := map[string]int{}
			for _, tile := range v.Tiles {
				tiles[tile.Label] = tile.N
			}
			equal := func(what string, got, want int) {
				t.Helper()
				if got != want {
					t.Errorf("%s: %d, want %d", what, got, want)
				}
			}
			all, left, becomes := 0, 0, 0
			for _, tile := range v.Tiles[1:] {
				if tile.Link == "records" {
					all += tile.N
				}
			}
			equal("the tiles of all records", all, len(p.Records))
			for _, r := range v.LeftOut {
				left += r.N
			}
			equal("records left out", left, tiles["to skip"]+tiles["to quarantine"]+tiles["to decide"])
			for _, b := range p.Tallies() {
				becomes += b.Count
			}
			equal("what the records become", becomes, tiles["to create"])
			twice, never := 0, 0
			for _, r := range p.Records {
				switch {
				case r.Action != migration.ActionCreate || r.Status != "consumed" && r.Status != "failed":
				case r.State == "held" || r.State == "failed":
					never++
				default:
					twice++
				}
			}
			equal("records that might run twice", tiles[string(migration.EffectRunsTwice)], twice)
			equal("records that might never run", tiles[string(migration.EffectNeverRuns)], never)
			if n := regexp.MustCompile(`(\d+) jobs? cannot be processed`).FindStringSubmatch(v.Sentence); n != nil && n[1] != fmt.Sprint(tiles[string(migration.EffectUnfit)]) {
				t.Errorf("the tile says %d, the page begins with: %s", tiles[string(migration.EffectUnfit)], v.Sentence)
			}
			write(t, v.Data)
		})
	}
}

// generatedPlan is a plan of a queue and of choices that are generated from a seed, as it was saved.
func generatedPlan(t *testing.T, seed uint64) *migration.Plan {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: 150, Seed: seed, Consumed: seed%3 > 0})
	must(err)
	must(tree.Put(znode.Node{Path: "/new", Data: []byte{}}))
	must(tree.Put(znode.Node{Path: "/ingest/mrtQ-050000007700", Data: []byte("no record")}))
	for i := range rnd.IntN(3) { // several demands of the services are not met
		data, err := legacyqueue.Encode(legacy.NewHeader(legacy.Pending, time.Unix(1.7e9, 0), legacy.Milliseconds), legacy.JSON, legacy.Payload{"jobID": fmt.Sprintf("jid-%d", i)})
		must(err)
		must(tree.Put(znode.Node{Path: fmt.Sprintf("/ingest/mrtQ-0500000088%02d", i), Data: data}))
	}
	server := minizk.RunWith(t, minizk.Options{RealTime: true})
	must(server.Load(tree))
	open := func(address string) *migrate.Reader {
		at, err := zkconn.ParseAddress(address)
		must(err)
		w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: at})
		must(err)
		t.Cleanup(w.Close)
		return &w.Reader
	}
	src, err := migrate.OpenSource(t.Context(), open(server.Addr()), migration.DefaultQueues(), legacy.Options{})
	must(err)
	opt := migration.PlanOptions{Dialect: newqueue.Dialects[seed%2], NewQueue: true, Choices: migration.DefaultChoices(), Source: "zk1", Target: "zk1/new"}
	for _, c := range migration.AllChoices {
		*c.Value(&opt.Choices) = c.Values[rnd.IntN(len(c.Values))]
	}
	p, err := migrate.MakePlan(t.Context(), src, open(server.Addr()+"/new"), opt)
	must(err)
	var b bytes.Buffer
	must(p.Write(&b))
	p, err = migration.ReadPlan(&b)
	must(err)
	return p
}
