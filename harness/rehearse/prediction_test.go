package rehearse

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

var torture = flag.Bool("torture", false, "rehearse a night's worth of queues with odd records, not only a few small ones")

var properties = map[string][]string{
	"/ingest": strings.Fields("batchID jobID profile type filename update submitter responseForm digestType digestValue localID objectID title creator date note " +
		"notification notificationFormat retainTargetURL DCtitle DCdate queuePriority batch_id legacy.batch_id profile_name legacy.profile_name payload_url payload_type " +
		"response_type local_id legacy.local_id submission_mode submissionDate legacy.absent legacy.update size unknown"),
	"/mrt.inventory.full": {"manifestURL", "unknown"},
	"/accessSmall.1":      {"token", "cloud-content-byte", "delivery-node", "status", "unknown"},
	"/accessLarge.1":      {"token", "cloud-content-byte", "delivery-node", "status", "unknown"},
}

var values = []any{
	"", " ", "x", "a/b", ".", "..", "a\x00b", "\U0001f600", "O\u2019Neil", `a"b\c;</d>`, "http://example.org/x.checkm", "bid-x", "bid-a/b", "run0000000000-unbatched",
	"manifest", "container", "file", "batchManifestFile", "MD5", "SHA-256", "md-5", "true", "FALSE", "5", "ark:/99999/fk4x", "demo_x", "a;b;a", strings.Repeat("long ", 2000),
	true, false, nil, json.Number("5"), json.Number("-1"), []any{"a", nil}, map[string]any{"a": "b"},
}

// varied is a legacy queue whose records' properties, statuses and names were changed.
func varied(t *testing.T, made *znode.Tree, random *rand.Rand) *znode.Tree {
	t.Helper()
	tree := znode.NewTree()
	pick := func(n int) int { return random.IntN(n) }
	for _, queue := range slices.Sorted(maps.Keys(properties)) {
		must(t, tree.Put(*made.Get(queue)))
		var others []legacy.Payload
		for _, name := range made.Children(queue) {
			n := *made.Get(queue + "/" + name)
			r, err := legacy.Decode(name, n.Data, legacy.Options{})
			must(t, err)
			p := maps.Clone(r.Payload)
			for range pick(4) {
				property := properties[queue][pick(len(properties[queue]))]
				switch change := pick(8); {
				case change == 0:
					delete(p, property)
				case change < 3 && len(others) > 0: // what another record has
					if v, there := others[len(others)-1-pick(min(3, len(others)))][property]; there {
						p[property] = v
					}
				default:
					p[property] = values[pick(len(values))]
					if s, is := p[property].(string); is && (property == "manifestURL" || property == "token") { // records of two queues are never the same work
						p[property] = property + " " + s
					}
				}
			}
			others = append(others, p)
			status := r.Header.Status
			if pick(10) == 0 {
				status = []legacy.Status{legacy.Pending, legacy.Consumed, legacy.Failed, legacy.Held}[pick(4)]
			}
			data, err := legacyqueue.Encode(legacy.NewHeader(status, r.Header.Time, r.Header.Unit), r.Format, p)
			if err == nil { // else its format has no such value
				n.Data = data
			}
			if pick(20) == 0 {
				n.Path = queue + "/" + name[:len(name)-10] + fmt.Sprint(-1-pick(1<<30))
			}
			must(t, tree.Put(n))
		}
	}
	tree.SettleStats(0)
	return tree
}

func without(t *testing.T, tree *znode.Tree, paths []string) *znode.Tree {
	t.Helper()
	rest := znode.NewTree()
	for n := range tree.All("/") {
		if n.Path != "/" && !slices.Contains(paths, n.Path) {
			must(t, rest.Put(*n))
		}
	}
	return rest
}

// Whatever a queue's records hold, the plan says what the workers can't do with them: a rehearsal finds
// nothing else.
func TestPlanPredictsEverything(t *testing.T) {
	queues, records := 2, 60
	if *torture {
		queues, records = 100, 300
	}
	for seed := range queues {
		for _, d := range newqueue.Dialects {
			t.Run(fmt.Sprint(d, " ", seed), func(t *testing.T) {
				opt := options(d)
				opt.Plan.Choices.Undecodable = "quarantine"
				opt.Plan.Choices.MaxPriority = []string{"99", "89", "79"}[seed%3]
				made, err := legacyqueue.Make(legacyqueue.Options{Records: records, Seed: uint64(seed)})
				must(t, err)
				copied, err := readCopy(t, varied(t, made, rand.New(rand.NewPCG(uint64(seed), 7))), migration.DefaultQueues())
				must(t, err)
				r, err := Run(t.Context(), copied, opt)
				must(t, err)
				for len(r.Problems) > 0 { // what must be repaired first goes
					var blocked []string
					for _, p := range r.Problems {
						blocked = append(blocked, p.Path)
					}
					rest := without(t, copied.Tree, blocked)
					if rest.Len() == copied.Tree.Len() {
						t.Fatal(r.Problems)
					}
					copied.Tree = rest
					r, err = Run(t.Context(), copied, opt)
					must(t, err)
				}
				for _, x := range r.Differences {
					t.Errorf("%s", shown(x, copied.Tree))
				}
			})
		}
	}
}

func shown(x Difference, tree *znode.Tree) string {
	text := fmt.Sprintf("%+v", x)
	if n := tree.Get(x.Path); n != nil {
		if r, err := legacy.Decode(znode.Name(x.Path), n.Data, legacy.Options{}); err == nil {
			text += fmt.Sprintf("\n%s %v", r.Header.Status, r.Payload)
		}
	}
	return text
}
