package migrate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// ownRecords returns changes of the migration's own records: the runs' records, their
// ledgers, the trace on /jobs, and /migration as a whole.
func ownRecords(w *world) []tampering {
	var all []tampering
	runs, _ := readRuns(w.clean)
	for _, r := range runs {
		all = append(all, w.editedRuns(r)...)
	}
	all = append(all, ledgersOfAll(w)...)
	all = append(all, w.forgedRuns(runs)...)
	all = append(all, w.traces()...)
	return append(all, w.removals(runs)...)
}

func ledgersOfAll(w *world) []tampering {
	var all []tampering
	runs, _ := readRuns(w.clean)
	for _, r := range runs {
		all = append(all, w.ledgers(r)...)
	}
	return all
}

// editedRuns returns edits of each field of a run's record. Some leave the seal as it was,
// some renew it, and some also change what verify compares the record with.
func (w *world) editedRuns(r Run) []tampering {
	path := r.path()
	stat := w.clean.Get(path).Stat
	var all []tampering
	for _, e := range jsonEdits(w.clean.Get(path).Data) {
		var edited Run
		all = append(all, tampering{kind: "run record edited", path: path + " " + e.what, do: []any{multi{set(path, e.data)}}, names: []string{path}})
		if json.Unmarshal(e.data, &edited) != nil {
			continue
		}
		all = append(all, tampering{kind: "run record edited and sealed", path: path + " " + e.what, do: []any{multi{set(path, edited.encode())}}, names: []string{path}})
		edited.Steps = stat.Version + 1
		all = append(all, tampering{kind: "run record edited, sealed, its version counted", path: path + " " + e.what, do: []any{multi{set(path, edited.encode())}}, names: []string{path}})
		edited.Steps = stat.Version
		remade := append(w.remove(path), create(path, edited.encode()))
		for range stat.Version {
			remade = append(remade, set(path, edited.encode()))
		}
		all = append(all, tampering{kind: "run record edited, sealed, recreated up to its version", path: path + " " + e.what, do: []any{remade}, names: []string{path}})
		edited.Steps = stat.Version + 1
		closing := shardPath(r.ID, r.Ledger.Shards-1)
		if w.clean.Get(closing) == nil || e.what == "seal" {
			continue
		}
		all = append(all, tampering{kind: "run record edited, sealed, its version counted, closing shard recreated", path: path + " " + e.what,
			do: []any{append(w.recreated(closing), set(path, edited.encode()))}, names: []string{path}})
	}
	return all
}

// ledgers returns changes of the ledger of a run.
func (w *world) ledgers(r Run) []tampering {
	var all []tampering
	dir := ledgerPath(r.ID)
	for i := range r.Ledger.Shards {
		path := shardPath(r.ID, i)
		n := w.clean.Get(path)
		if n == nil {
			continue
		}
		entries, err := unpackShard(n.Data)
		if err != nil {
			continue
		}
		add := func(kind string, entries []ledgerEntry) {
			raw, err := encodeLedger(entries)
			if err != nil {
				panic(err) // can't happen: the entries were read from a ledger
			}
			data := packShard(raw)
			all = append(all,
				tampering{kind: "shard: " + kind, path: path, do: []any{multi{set(path, data)}}, names: []string{path}},
				tampering{kind: "shard recreated: " + kind, path: path, do: []any{append(w.remove(path), create(path, data))}, names: []string{path}})
		}
		add("an entry taken away", entries[1:])
		add("an entry twice", append(slices.Clone(entries), entries[0]))
		add("its entries in reverse", reversed(entries))
		for _, edit := range []struct {
			what string
			do   func(*ledgerEntry)
		}{
			{"another operation", func(e *ledgerEntry) { e.op = opDeclaredDone }},
			{"rolled back", func(e *ledgerEntry) { e.op = opRolledBack }},
			{"another record", func(e *ledgerEntry) { e.record = e.record[:len(e.record)-4] + "9999" }},
			{"another job", func(e *ledgerEntry) { e.root = e.root[:len(e.root)-4] + "9999" }},
			{"another batch", func(e *ledgerEntry) { e.bid = "bid0000009999" }},
			{"another hash", func(e *ledgerEntry) { e.hash++ }},
		} {
			edited := slices.Clone(entries)
			edit.do(&edited[len(edited)/2])
			add(edit.what, edited)
		}
		extra := shardPath(r.ID, r.Ledger.Shards)
		all = append(all,
			tampering{kind: "shard copied", path: path, do: []any{w.copyTo(path, extra)}, names: []string{extra}},
			tampering{kind: "shard and all after it gone", path: path, do: []any{w.remove(w.clean.Paths(dir)[i+1:]...)}, names: []string{path}})
		for other := range r.Ledger.Shards {
			if b := shardPath(r.ID, other); other > i && w.clean.Get(b) != nil {
				all = append(all, w.swaps(path, b)...)
			}
		}
	}
	for _, entries := range [][]ledgerEntry{
		{{op: opRolledBack, record: w.src.Records[0].Path, root: "/jobs/jid0000000001", bid: "bid0000000000"}},
		{{op: opDeclaredDone, record: "/ingest/mrtQ-05000000009999"}},
	} {
		edited := r
		edited.Ledger.Tail, _ = encodeLedger(entries)
		for _, how := range []struct {
			kind string
			do   func(*Run)
		}{
			{"tail edited and sealed", func(*Run) {}},
			{"tail edited, sealed and counted", func(r *Run) { r.Ledger.Entries += len(entries) }},
			{"tail edited, sealed, counted and summed", func(r *Run) {
				for _, e := range entries {
					r.Ledger.Sum = ledgerSum(r.Ledger.Sum, e)
				}
				r.Steps++
			}},
		} {
			how.do(&edited)
			all = append(all, tampering{kind: how.kind, path: r.path(), do: []any{multi{set(r.path(), edited.encode())}}, names: []string{r.path()}})
		}
	}
	return all
}

func reversed(entries []ledgerEntry) []ledgerEntry {
	entries = slices.Clone(entries)
	slices.Reverse(entries)
	return entries
}

// forgedRuns returns changes that add forged runs: later ones, which would hide what
// happened before them, and earlier ones.
func (w *world) forgedRuns(runs []Run) []tampering {
	var all []tampering
	newest := runs[len(runs)-1]
	for _, state := range []RunState{RunDone, RunRunning, RunRollingBack, RunRolledBack} {
		forged := newest
		forged.ID, forged.State, forged.Steps = "run0000000007", state, 0
		path, dir := forged.path(), ledgerPath(forged.ID)
		extra := newqueue.JobPath("jid0000000777")
		foreign := create(extra, none)
		add := func(kind string, do ...any) {
			all = append(all, tampering{kind: kind, path: path + " " + string(state), do: do, names: []string{path}})
		}
		add("forged run record", multi{create(path, forged.encode())})
		add("forged run record after an extra", multi{foreign}, multi{create(path, forged.encode())})
		whole := append(multi{create(path, forged.encode())}, w.copyTo(ledgerPath(newest.ID), dir)...)
		add("forged run record with a ledger", whole)
		forged.Ledger = Ledger{}
		add("forged run record of nothing", multi{create(path, forged.encode()), create(dir, none)})
	}
	for _, r := range runs {
		path := znode.Join(RunsPath, "run0000000007")
		all = append(all, tampering{kind: "run record copied", path: r.path(), do: []any{w.copyTo(r.path(), path)}, names: []string{path}})
	}
	return all
}

// traces returns changes of the trace on /jobs.
func (w *world) traces() []tampering {
	path := newqueue.JobsPath
	n := w.clean.Get(path)
	var all []tampering
	add := func(kind, what string, data []byte) {
		all = append(all, tampering{kind: kind, path: path + " " + what, do: []any{multi{set(path, data)}}, names: []string{path}})
	}
	for _, e := range jsonEdits(n.Data) {
		add("trace edited", e.what, e.data)
		if e.what == "sets" || e.what == "custody_ledger" {
			continue
		}
		if t, ok := parseTrace(e.data); ok {
			t.Sets = n.Stat.Version + 1
			add("trace edited, its version counted", e.what, t.encode())
		}
	}
	t, _ := parseTrace(n.Data)
	add("trace removed", "", t.Was)
	for _, r := range t.Runs {
		without := t.without(r.ID)
		add("trace of a run removed", r.ID, without.encode())
		without.Sets = n.Stat.Version + 1
		add("trace of a run removed, its version counted", r.ID, without.encode())
	}
	return all
}

// removals returns changes that remove the migration's own records.
func (w *world) removals(runs []Run) []tampering {
	var records []string
	for _, r := range runs {
		records = append(records, r.path())
	}
	markers := multi{create(MigrationPath, none), create(MigrationPath+"/m1", none), create(MigrationPath+"/m3", none)}
	t, _ := parseTrace(w.clean.Get(newqueue.JobsPath).Data)
	all := []tampering{
		{kind: "/migration removed", path: MigrationPath, do: []any{w.remove(MigrationPath)}, names: records},
		{kind: "/migration removed and recreated with markers", path: MigrationPath, do: []any{w.remove(MigrationPath), markers}, names: records},
		{kind: "/migration recreated whole", path: MigrationPath, do: []any{w.recreated(MigrationPath)}, names: records},
		{kind: "all run records removed", path: RunsPath, do: []any{w.remove(records...)}, names: records},
	}
	// If the trace is removed too, only the jobs still mention a run.
	all = append(all, tampering{kind: "/migration and the trace removed", path: MigrationPath,
		do: []any{append(w.remove(MigrationPath), set(newqueue.JobsPath, t.Was))}, names: records})
	versions := w.recreated(MigrationPath)
	for _, r := range runs {
		for range r.stat.Version {
			versions = append(versions, set(r.path(), w.clean.Get(r.path()).Data))
		}
	}
	all = append(all, tampering{kind: "/migration recreated whole up to its versions", path: MigrationPath, do: []any{versions}, names: records})
	for _, dir := range []string{RunsPath, LedgerPath} {
		all = append(all, tampering{kind: "records or ledgers removed", path: dir, do: []any{w.remove(dir)}, names: []string{dir}})
	}
	return all
}

// jsonEdits returns edits that change each field of a JSON object to another value of its
// type, or remove it. They include the fields inside of objects and lists.
func jsonEdits(data []byte) []edit {
	var whole any
	if json.Unmarshal(data, &whole) != nil {
		return nil
	}
	var all []edit
	note := func(what string) {
		b, err := json.Marshal(whole)
		if err != nil {
			panic(err) // can't happen: it was read from JSON
		}
		all = append(all, edit{what, b})
	}
	var walk func(at string, v any, put func(any))
	walk = func(at string, v any, put func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				inside := strings.TrimPrefix(at+"."+key, ".")
				old := v[key]
				walk(inside, old, func(other any) { v[key] = other })
				delete(v, key)
				note(inside)
				v[key] = old
			}
		case []any:
			for _, i := range slices.Compact([]int{0, len(v) - 1}) {
				if len(v) == 0 {
					break
				}
				old := v[i]
				walk(fmt.Sprintf("%s[%d]", at, i), old, func(other any) { v[i] = other })
			}
			put(append(slices.Clone(v), v...))
			note(at)
			put([]any{})
			note(at)
			put(v)
		case string:
			others := []any{v + "x", ""}
			if at == "state" {
				others = append(others, "running", "rolling-back", "rolled-back")
			}
			for _, other := range others {
				if other != v {
					put(other)
					note(at)
				}
			}
			put(v)
		case float64:
			for _, other := range []any{v + 1, -v - 1} {
				put(other)
				note(at)
			}
			put(v)
		case bool:
			put(!v)
			note(at)
			put(v)
		}
	}
	walk("", whole, func(any) {})
	return append(all, added(data)...)
}

// added returns edits that add fields to a run's record.
func added(data []byte) []edit {
	var r Run
	if json.Unmarshal(data, &r) != nil || r.Seal == "" {
		return nil
	}
	var all []edit
	for _, a := range []struct {
		what string
		do   func(*Run)
	}{
		{"from, to", func(r *Run) { r.From, r.To = 1, 1<<40 }},
		{"lost", func(r *Run) { r.Lost = 5 }},
		{"ledger.missing", func(r *Run) { r.Ledger.Missing = []int{0} }},
		{"ledger.void", func(r *Run) { r.Ledger.Void = true }},
		{"acl", func(r *Run) { r.ACL = []znode.ACL{{Perms: 1, Scheme: "world", ID: "anyone"}} }},
	} {
		edited := r
		a.do(&edited)
		if string(edited.plain()) != string(r.plain()) {
			all = append(all, edit{a.what, edited.plain()})
		}
	}
	return all
}
