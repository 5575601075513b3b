package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"mrtq/internal/side"
	"mrtq/newqueue"
)

// ReadCollections returns the collections of a target's batches: the profiles in their
// submissions, each once. The layout has no list of collections. A hold on a collection
// is a name with which workers compare a job's profile.
func ReadCollections(ctx context.Context, s side.Side) ([]string, error) {
	bids, err := childrenOf(ctx, s, newqueue.BatchesPath)
	if err != nil {
		return nil, err
	}
	submissions := func(yield func(string) bool) {
		for _, bid := range bids {
			if !yield(newqueue.BatchPath(bid) + "/submission") {
				return
			}
		}
	}
	found := map[string]bool{}
	for sub, err := range s.Subtrees(ctx, submissions) {
		if err != nil {
			return nil, err
		}
		if sub.Missing() {
			continue
		}
		// The dialects' names of the same key. What is damaged names no collection.
		var says struct {
			Design string `json:"profile_name"`
			MrtZK  string `json:"profile"`
		}
		if json.Unmarshal(sub.Nodes[0].Data, &says) == nil {
			found[cmp.Or(says.MrtZK, says.Design)] = true
		}
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found)), nil
}
