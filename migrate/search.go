package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// idKeys are the properties of a record, and the keys of a job's or request's data, by which it
// can be found.
var idKeys = []string{"jobID", "batchID", "objectID", "localID", "manifestURL", "token", "primary_id", "local_id"}

// hasID reports whether properties have an id. One property may have several, as localID does.
func hasID(properties map[string]any, id string) bool {
	is := func(v any) bool {
		text, _ := v.(string)
		return text == id || slices.ContainsFunc(strings.Split(text, ";"), func(one string) bool { return strings.TrimSpace(one) == id })
	}
	return slices.ContainsFunc(idKeys, func(key string) bool {
		list, _ := properties[key].([]any)
		return is(properties[key]) || slices.ContainsFunc(list, is)
	})
}

// search finds the record that has an id, by reading all records. If none has it, it finds the
// job or request that has it, because the record may not be there any more.
func (f *finder) search(ctx context.Context, id string) (record, job string, err error) {
	for e := range f.t.Ledger.All() {
		if znode.Name(e.Record) == id {
			return e.Record, "", nil
		}
	}
	var found []string
	for r, err := range f.src.Records(ctx) {
		if err != nil {
			return "", "", err
		}
		if r.Err == nil && hasID(r.Legacy.Payload, id) {
			found = append(found, r.Path)
		}
	}
	if len(found) > 0 {
		record, err = oneOf(found, id)
		return record, "", err
	}
	job, err = f.searchTarget(ctx, id, []string{"configuration", "identifiers", "token"}, func(data []byte) bool {
		o, err := newqueue.ParseObject(data)
		return err == nil && hasID(o, id)
	})
	return "", job, err
}

// searchTarget finds the job or request of which one of these znodes has the id.
func (f *finder) searchTarget(ctx context.Context, id string, names []string, has func(data []byte) bool) (string, error) {
	parents := []string{newqueue.JobsPath}
	for _, q := range newqueue.AccessQueues {
		parents = append(parents, newqueue.AccessQueuePath(q))
	}
	lists, err := f.t.Reader.ChildrenAll(ctx, parents)
	if err != nil {
		return "", err
	}
	var found []string
	for i, parent := range parents {
		for some := range slices.Chunk(lists[i], 1000) {
			var paths []string
			for _, item := range some {
				for _, name := range names {
					paths = append(paths, znode.Join(znode.Join(parent, item), name))
				}
			}
			err := f.t.Reader.MarkUnreadable().GetEach(ctx, paths, func(n znode.Node) {
				if job := znode.Parent(n.Path); has(n.Data) && !slices.Contains(found, job) {
					found = append(found, job)
				}
			})
			if err != nil {
				return "", err
			}
		}
	}
	slices.Sort(found)
	return oneOf(found, id)
}

// oneOf is the only path that was found. The error wraps [ErrNoItem] or [ErrManyItems].
func oneOf(found []string, id string) (string, error) {
	const most = 10
	switch n := len(found); {
	case n == 0:
		return "", fmt.Errorf("%s: %w", id, ErrNoItem)
	case n > most:
		return "", fmt.Errorf("%s: %w: %s and %d more", id, ErrManyItems, strings.Join(found[:most], ", "), n-most)
	case n > 1:
		return "", fmt.Errorf("%s: %w: %s", id, ErrManyItems, strings.Join(found, ", "))
	}
	return found[0], nil
}
