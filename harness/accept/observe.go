package accept

import (
	"path"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// Step is a change of state that the second connection has observed.
type Step struct {
	Entity   states.Entity
	From, To string // as docs/transitions.md writes them
}

// String returns text such as "job notify → completed".
func (s Step) String() string { return string(s.Entity) + " " + s.From + " → " + s.To }

// sighting is what was observed during a scenario: steps, and locks that were
// acquired or released.
type sighting struct {
	steps           []Step
	taken, released []string // "Q4", "K1": see lockID
}

func (saw *sighting) observe(s spelling, before, after *znode.Tree) {
	for _, k := range kinds {
		e, old, now := entityOf(k.noun), s.statesIn(k.folders, before), s.statesIn(k.folders, after)
		for at, from := range old {
			to, there := now[at]
			switch {
			case there && to != from:
				saw.steps = append(saw.steps, Step{e, from, to})
			case !there && !goneWithBatch(at, before, after):
				saw.steps = append(saw.steps, Step{e, from, s.after(from)})
			}
		}
		for at, to := range now {
			if _, there := old[at]; !there {
				saw.steps = append(saw.steps, Step{e, states.Created, to})
			}
		}
	}
	saw.taken = append(saw.taken, s.locks(after, before)...)
	saw.released = append(saw.released, s.locks(before, after)...)
}

// after returns the state that an item has after its znodes were removed. It is deleted, or removed
// if the item was marked as deleted before. With the deployed library a completed item
// is removed, too, because its status never becomes Deleted.
func (s spelling) after(from string) string {
	if from == "deleted" || from == "completed" && s.mrtZK() {
		return states.Removed
	}
	return "deleted"
}

// goneWithBatch reports whether a job was removed together with its batch. That
// is a step of the batch and not of the job (B11).
func goneWithBatch(at string, before, after *znode.Tree) bool {
	bid := before.Get(at + "/bid")
	if bid == nil {
		return false
	}
	batch := "/batches/" + string(bid.Data)
	return before.Get(batch) != nil && after.Get(batch) == nil
}

func (s spelling) statesIn(folders []string, t *znode.Tree) map[string]string {
	found := map[string]string{}
	for _, folder := range folders {
		for _, name := range t.Children(folder) {
			if at := folder + "/" + name; at != "/jobs/states" {
				found[at] = s.stateOf(t, at)
			}
		}
	}
	return found
}

// stateOf returns the state of an item. A completed job without a queue entry counts
// as deleted, because its deletion removes only that entry (J20).
func (s spelling) stateOf(t *znode.Tree, at string) string {
	n := t.Get(at + "/status")
	if n == nil {
		return "without a status"
	}
	state := s.stateFromJSON(parse(n.Data)["status"])
	if state == "completed" && path.Dir(at) == "/jobs" && !queued(t, state, path.Base(at)) {
		return "deleted"
	}
	return state
}

func queued(t *znode.Tree, state, jid string) bool {
	return slices.ContainsFunc(t.Children("/jobs/states/"+state), func(name string) bool { return strings.HasSuffix(name, "-"+jid) })
}

func (s spelling) locks(in, notIn *znode.Tree) []string {
	var ids []string
	for n := range in.All("/") {
		if notIn.Get(n.Path) != nil {
			continue
		}
		if id := s.lockID(in, n.Path); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// lockID returns the id of the acquisition (Q1 to Q11) or of the lock (K1 to K5) to which
// a lock's znode belongs, or "" if the znode is no lock.
func (s spelling) lockID(t *znode.Tree, at string) string {
	folder := path.Dir(at)
	switch {
	case folder == s.localIDs:
		return "K5"
	case folder == "/locks/queue" && at != s.localIDs:
		return "K1"
	case folder == "/locks/collections":
		return "K2"
	case folder == "/locks/storage":
		return "K3"
	case folder == "/locks/inventory":
		return "K4"
	case path.Base(at) != "lock":
		return ""
	}
	kind, _, _ := strings.Cut(folder[1:], "/")
	for _, o := range others {
		if slices.Contains(strings.Split(o.at, ", "), kind+" "+s.stateOf(t, folder)) {
			return o.id
		}
	}
	return ""
}

// kinds has the kinds of items, as scenarios call them, and the folders of each.
var kinds = []struct {
	noun    string
	folders []string
}{{"job", []string{"/jobs"}}, {"batch", []string{"/batches"}}, {"request", []string{"/access/small", "/access/large"}}}

func kindOf(at string) string {
	for _, k := range kinds {
		if slices.Contains(k.folders, path.Dir(at)) {
			return k.noun
		}
	}
	return ""
}

func entityOf(noun string) states.Entity {
	return states.Entity(strings.Replace(noun, "request", string(states.Access), 1))
}

func nounOf(e states.Entity) string {
	return strings.Replace(string(e), string(states.Access), "request", 1)
}
