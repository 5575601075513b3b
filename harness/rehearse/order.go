package rehearse

import (
	"cmp"
	"fmt"
	"slices"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// compareOrder compares the order in which workers began records with the one in which each
// legacy consumer would have taken them, within a priority: a legacy consumer took all keys with fewer
// digits first, and the new queue goes by priority. begun are the records' keys. Of records that share one, nobody
// knows which was begun when.
func compareOrder(records []prediction, begun []string) (all []Difference) {
	sharing := map[string]int{} // how many records have a key
	for i := range records {
		sharing[records[i].Key]++
	}
	at := map[string]int{} // when a record was begun, by its key
	for i, key := range begun {
		at[key] = i
	}
	byConsumer := map[consumer][]string{}
	byPath := map[string]*prediction{}
	for i := range records {
		f := &records[i]
		if _, taken := at[f.Key]; !taken || sharing[f.Key] > 1 || f.State != string(newqueue.JobPending) {
			continue
		}
		byPath[f.Path] = f
		for _, c := range consumersOf(f.Path) {
			byConsumer[c] = append(byConsumer[c], znode.Name(f.Path))
		}
	}
	worst := map[string]bool{}
	for c, names := range byConsumer {
		last := ""
		names = (legacyqueue.Consumer{Worker: c.worker, HighPriority: c.high}).Candidates(names)
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(priority(a), priority(b)) })
		for _, name := range names {
			path := znode.Join(c.node, name)
			if last != "" && at[byPath[path].Key] < at[byPath[last].Key] && !worst[path] {
				worst[path] = true
				all = append(all, Difference{Order, path, fmt.Sprintf("a worker began it before %s, and a legacy worker would have begun it afterwards", last)})
				continue // those after it are compared with the one before it
			}
			last = path
		}
	}
	slices.SortFunc(all, func(a, b Difference) int { return at[byPath[a.Path].Key] - at[byPath[b.Path].Key] })
	return all
}

func priority(name string) int {
	key, _ := legacy.ParseKey(name) // the plan could read it
	return key.Priority
}

type consumer struct {
	node, worker string
	high         bool
}

func consumersOf(path string) []consumer {
	key, err := legacy.ParseKey(znode.Name(path))
	if err != nil {
		return nil
	}
	c := consumer{node: znode.Parent(path), worker: key.Worker}
	if !key.HighPriority {
		return []consumer{c}
	}
	return []consumer{c, {c.node, c.worker, true}}
}
