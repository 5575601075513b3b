package migration

// The steps with services that process a migrated queue, and with CDL's migration script.

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"mrtq/harness/daemons"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// workOff lets the services move every job as far as possible, report the batches
// that are done, and clean up. An administrator deletes failed and held jobs.
func (w *world) workOff() error {
	s, err := w.start()
	if err != nil {
		return err
	}
	if err := s.Run(); err != nil {
		return err
	}
	if err := w.doTo(newqueue.JobsPath, map[string]daemons.Action{"failed": daemons.DeleteJob, "held": daemons.DeleteJob}); err != nil {
		return err
	}
	if err := w.doTo(newqueue.BatchesPath, map[string]daemons.Action{"failed": daemons.UpdateReport}); err != nil {
		return err
	}
	if err := all(s.Run(), s.Clean()); err != nil {
		return err
	}
	after, err := w.tree("/new")
	if err != nil {
		return err
	}
	for _, folder := range []string{newqueue.JobsPath, newqueue.AccessPath} {
		for _, path := range slices.Sorted(maps.Keys(w.items)) {
			if strings.HasPrefix(path, folder+"/") && after.Get(path) == nil {
				w.removed = append(w.removed, w.items[path])
			}
		}
	}
	if len(w.removed) == 0 {
		return errors.New("nothing was cleaned")
	}
	return nil
}

// doTo lets an administrator do something to every job or batch that is in a state.
func (w *world) doTo(folder string, actions map[string]daemons.Action) error {
	items, err := w.services.States(folder)
	if err != nil {
		return err
	}
	for id, state := range items {
		if do, ok := actions[strings.ToLower(state)]; ok {
			if err := w.services.Do(do, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// setMarker removes everything below /migration and creates that script's
// marker (docs/field-script.md, "Migration levels").
func (w *world) setMarker() error {
	tree, err := w.tree("/new")
	if err != nil {
		return err
	}
	for _, path := range slices.Backward(tree.Paths("/migration")) {
		if path == "/migration" {
			continue
		}
		if err := w.conn.Delete(w.root+"/new"+path, -1); err != nil {
			return err
		}
	}
	return w.create("/new/migration/m1", nil)
}

// recordOf returns the path of the record that a job or a request was migrated from, "" if
// it was not migrated.
func recordOf(n *znode.Node) string {
	var from struct{ Path string }
	if json.Unmarshal(n.Data, &from) != nil {
		return ""
	}
	return from.Path
}
