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
		// The key has another name in each dialect. A damaged submission names no collection.
		var profile struct {
			Design string `json:"profile_name"`
			MrtZK  string `json:"profile"`
		}
		if json.Unmarshal(sub.Nodes[0].Data, &profile) == nil {
			found[cmp.Or(profile.MrtZK, profile.Design)] = true
		}
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found)), nil
}
