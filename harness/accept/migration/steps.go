package migration

// The steps that write legacy records, and those that say what was read, planned and
// migrated.

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cucumber/godog"

	"mrtq/features"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// plan is what mrtq plan -o json says.
type plan struct {
	Problems []struct{ Kind, Path, Record string }
	Risks    []struct {
		About, Choice       string
		Twice, Never, Empty []string
	}
	Readers  string
	Services []struct {
		Requirement, Then string
		Blocking          bool
		Items             []struct{ Path string }
	}
}

// verdict is what mrtq verify -o json says.
type verdict struct {
	Differences []struct{ Kind, Path string }
	Records     struct{ Removed int }
	NotMigrated []string                  `json:"not_migrated"`
	Legacy      []struct{ Record string } // the records of which the legacy queue has the work
}

// corpus writes the znodes of features.Corpus through the scenario's session.
func (w *world) corpus() error {
	sc := bufio.NewScanner(strings.NewReader(features.Corpus))
	for sc.Scan() {
		var n struct {
			Path string
			Data []byte
		}
		if err := json.Unmarshal(sc.Bytes(), &n); err != nil {
			return err
		}
		if err := w.create("/legacy"+n.Path, n.Data); err != nil {
			return err
		}
	}
	var err error
	w.legacy, err = w.tree("/legacy")
	return all(sc.Err(), err)
}

// generated writes a legacy queue in place of the corpus, which is too small to interrupt
// its migration.
func (w *world) generated(records int) error {
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: records, Seed: 1, Consumed: true})
	if err != nil {
		return err
	}
	path := filepath.Join(w.dir, "generated.ndjson")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := znode.WriteDump(f, tree); err != nil {
		return err
	}
	w.root += "-generated"
	w.large, w.legacy = true, tree
	return all(w.makeRoot(), w.run("restore SOURCE --in "+path), w.wantCode(0))
}

func (w *world) addRecord() error {
	data := binary.BigEndian.AppendUint64([]byte{0}, uint64(time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli()))
	data = append(data, `{"batchID":"bid-4f0c1f6e-2f3b-4d8e-9a57-0d6c0a5d1a10","jobID":"jid-new"}`...)
	return w.create("/legacy/ingest/mrtQ-05000000000099", data)
}

func (w *world) failRecord(path string) error {
	data, stat, err := w.conn.Get(w.root + "/legacy" + path)
	if err != nil {
		return err
	}
	data[0], w.record = byte(legacy.Failed), path
	_, err = w.conn.Set(w.root+"/legacy"+path, data, stat.Version)
	return err
}

// says checks that the last command printed a text, however its lines were broken.
func (w *world) says(text string) error {
	if said := strings.Join(strings.Fields(w.last.stdout+" "+w.last.stderr), " "); !strings.Contains(said, text) {
		return fmt.Errorf("it says %.1500s … %.500s", w.last.stdout, w.last.stderr)
	}
	return nil
}

func (w *world) wantFailure() error {
	if w.last.code == 0 {
		return errors.New("it succeeded")
	}
	return nil
}

// nothingWritten compares everything that a write would change with the state before the
// last command.
func (w *world) nothingWritten() error {
	now, err := w.tree("")
	if err != nil {
		return err
	}
	return unwritten(w.before, now)
}

func (w *world) legacyUnchanged() error {
	now, err := w.tree("/legacy")
	if err != nil {
		return err
	}
	return unwritten(w.legacy, now)
}

func (w *world) reportedAsExpected() error {
	want, err := byPath(features.Expected)
	if err != nil {
		return err
	}
	got, err := byPath(w.last.stdout)
	if err != nil {
		return err
	}
	if len(want) != 21 || len(got) != len(want) {
		return fmt.Errorf("%d records reported, %d expected", len(got), len(want))
	}
	for path, e := range want {
		g := got[path]
		for field, value := range e {
			have := g[field]
			if m, ok := have.(map[string]any); ok && field == "error" {
				have = m["kind"]
			}
			if !reflect.DeepEqual(have, value) {
				return fmt.Errorf("%s: %s is %v, expected %v", path, field, have, value)
			}
		}
	}
	return w.wantCode(0)
}

// byPath reads one JSON object from each line. Numbers keep every digit.
func byPath(text string) (map[string]map[string]any, error) {
	out := map[string]map[string]any{}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	for dec.More() {
		var m map[string]any
		if err := dec.Decode(&m); err != nil {
			return nil, err
		}
		path, _ := m["path"].(string)
		out[path] = m
	}
	return out, nil
}

func (w *world) planNames(table *godog.Table) error {
	var got, want []string
	for _, x := range w.planned.Problems {
		got = append(got, strings.TrimSpace(x.Path+" "+x.Kind+" "+x.Record))
	}
	for _, r := range table.Rows {
		want = append(want, strings.TrimSpace(r.Cells[0].Value+" "+r.Cells[1].Value+" "+r.Cells[2].Value))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("problems are\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

func (w *world) risks(table *godog.Table) error {
	var got, want []string
	for _, r := range w.planned.Risks {
		got = append(got, fmt.Sprintf("--%s %s | %d | %d | %d", r.About, r.Choice, len(r.Twice), len(r.Never), len(r.Empty)))
	}
	for _, r := range table.Rows[1:] {
		want = append(want, fmt.Sprintf("%s | %s | %s | %s", r.Cells[0].Value, r.Cells[1].Value, r.Cells[2].Value, r.Cells[3].Value))
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("the risks are\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

func (w *world) newQueueHolds(table *godog.Table) error {
	tree, err := w.tree("/new")
	if err != nil {
		return err
	}
	for _, r := range table.Rows {
		state, want := newqueue.JobState(r.Cells[0].Value), r.Cells[1].Value
		if got := len(tree.Children(newqueue.JobStatePath(state))); strconv.Itoa(got) != want {
			return fmt.Errorf("%d jobs are %s, expected %s", got, state, want)
		}
	}
	return w.wantCode(0)
}

func (w *world) queuesHeld() error {
	for _, hold := range newqueue.QueueHolds {
		if ok, _, err := w.conn.Exists(w.root + "/new" + newqueue.QueueHoldPath(hold)); err != nil || !ok {
			return fmt.Errorf("%s is not held (%v)", hold, err)
		}
	}
	return nil
}

func (w *world) quarantined() error {
	text, err := os.ReadFile(filepath.Join(w.dir, "quarantine.ndjson"))
	if err != nil {
		return err
	}
	kept, err := byPath(string(text))
	if err != nil {
		return err
	}
	expected, err := byPath(features.Expected)
	if err != nil {
		return err
	}
	bad := 0
	for path, e := range expected {
		if e["error"] == nil {
			continue
		}
		bad++
		text, _ := kept[path]["data"].(string)
		if data, err := base64.StdEncoding.DecodeString(text); err != nil || !bytes.Equal(data, w.legacy.Get(path).Data) {
			return fmt.Errorf("%s: kept %q (%v), expected %q", path, data, err, w.legacy.Get(path).Data)
		}
	}
	if bad != 9 || len(kept) != 9 {
		return fmt.Errorf("%d bad records, %d kept", bad, len(kept))
	}
	return nil
}

func (w *world) made(jobs int) error {
	var m struct{ Created struct{ Jobs int } }
	if err := all(w.wantCode(0), w.json(&m)); err != nil {
		return err
	}
	if m.Created.Jobs != jobs {
		return fmt.Errorf("%d jobs were created", m.Created.Jobs)
	}
	return nil
}

// rolledBack: the layout, the counters and the run's record stay.
func (w *world) rolledBack() error {
	tree, err := w.tree("/new")
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(tree.Children(newqueue.JobsPath), func(name string) bool { return name == "states" })
	for _, folder := range []string{newqueue.BatchesPath, newqueue.BatchUUIDsPath,
		newqueue.AccessQueuePath(newqueue.AccessSmall), newqueue.AccessQueuePath(newqueue.AccessLarge)} {
		left = append(left, tree.Children(folder)...)
	}
	for _, state := range tree.Children(newqueue.JobStatesPath) {
		left = append(left, tree.Children(newqueue.JobStatesPath+"/"+state)...)
	}
	if len(left) > 0 {
		return fmt.Errorf("left: %v", left)
	}
	return w.wantCode(0)
}

// namesLegacy: verify names the record that a legacy service has worked on, and the one that it has added.
func (w *world) namesLegacy() error {
	var v verdict
	if err := all(w.wantCode(0), w.json(&v)); err != nil {
		return err
	}
	if len(v.Legacy) != 1 || v.Legacy[0].Record != w.record || len(v.NotMigrated) != 1 {
		return fmt.Errorf("in the legacy queue: %v, not migrated: %v", v.Legacy, v.NotMigrated)
	}
	return nil
}

// countsRemoved: verify counts as removed the jobs that the scenario's cleanup removed.
func (w *world) countsRemoved() error {
	var v verdict
	if err := w.json(&v); err != nil {
		return err
	}
	if v.Records.Removed != len(w.removed) {
		return fmt.Errorf("%d records are counted, but the jobs of %v were removed", v.Records.Removed, w.removed)
	}
	return nil
}
