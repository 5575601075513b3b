package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// savedPlan returns a plan with problems, warnings and settings, and its saved form.
func savedPlan(t *testing.T) (*Plan, []byte) {
	t.Helper()
	opt := options(permissive())
	opt.ACL = []znode.ACL{{Perms: znode.PermAll, Scheme: "digest", ID: "operator:abc="}}
	opt.Packet, opt.Again = 1<<20, []string{"/ingest/mrtQ-05000000000001"}
	p := makePlan(t, source(t, queue(t, fourRecords(t))), znode.NewTree(), opt)
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return p, b
}

// A saved plan has all the options that it was made with: with them, the same sides give the
// same plan again.
func TestPlanCarriesItsSettings(t *testing.T) {
	p, b := savedPlan(t)
	a, err := ReadApproved(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	queues, reads, err := a.Reads()
	if err != nil || reads.Time != legacy.TimeAuto || !reflect.DeepEqual(queues, DefaultQueues()) || a.Records != p.Records.Len() {
		t.Errorf("read %+v %+v, %d records, %v", queues, reads, a.Records, err)
	}
	again := makePlan(t, source(t, queue(t, fourRecords(t))), znode.NewTree(), a.Options())
	if again.ID != p.ID {
		t.Errorf("under its own settings it is another: %v", a.changesTo(again))
	}
	if err := again.CheckApproved(a); err != nil {
		t.Error(err)
	}
}

// A saved plan that was cut anywhere is refused. The error says where it ends.
func TestPlanCutShort(t *testing.T) {
	_, b := savedPlan(t)
	in := map[string]bool{}
	for n := range len(b) {
		_, err := ReadApproved(bytes.NewReader(b[:n]))
		var bad *PlanFileError
		if !errors.As(err, &bad) || bad.Kind != PlanCut || bad.Offset != int64(n) {
			t.Fatalf("cut at byte %d of %d: %v", n, len(b), err)
		}
		in[bad.In] = true
	}
	for _, want := range []string{"its first line", "its field settings", "its records, after 2 of them", "its field warnings", "its field seals"} {
		if !in[want] {
			t.Errorf("none was said to end in %s", want)
		}
	}
}

// If any byte of a saved plan was changed, it is refused. If the plan can still be read, the
// error says which part was edited.
func TestPlanEdited(t *testing.T) {
	p, b := savedPlan(t)
	// The id does not depend on the source's name and on both sides' transactions.
	free := regionsOf(b, fmt.Sprintf("%q", p.Source.Name), `"zxid": 0`, `"zxid": 1`)
	in := map[string]bool{}
	for i, c := range b {
		if free[i] || c == ' ' || c == '\n' {
			continue
		}
		edited := bytes.Clone(b)
		edited[i] ^= 1
		_, err := ReadApproved(bytes.NewReader(edited))
		if !errors.Is(err, ErrPlanFile) {
			t.Fatalf("byte %d (%q in %q): %v", i, c, b[max(i-20, 0):min(i+20, len(b))], err)
		}
		var bad *PlanFileError
		if errors.As(err, &bad) && bad.Kind == PlanEdited {
			in[bad.In] = true
		}
	}
	for _, want := range []string{"its head", "its list of records", "what follows", "its id"} {
		found := false
		for part := range in {
			found = found || strings.HasPrefix(part, want)
		}
		if !found {
			t.Errorf("nothing was said of %s", want)
		}
	}
}

// regionsOf returns where some texts occur.
func regionsOf(b []byte, texts ...string) map[int]bool {
	in := map[int]bool{}
	for _, text := range texts {
		for at := 0; ; {
			i := bytes.Index(b[at:], []byte(text))
			if i < 0 {
				break
			}
			for k := range len(text) {
				in[at+i+k] = true
			}
			at += i + len(text)
		}
	}
	return in
}

// A field that was added, repeated or moved is refused, and so is text after the plan. White
// space is not an edit.
func TestPlanRearranged(t *testing.T) {
	_, b := savedPlan(t)
	text := string(b)
	for _, c := range []struct {
		name, text string
		kind       PlanFileKind
	}{
		{"added", strings.Replace(text, "{", `{"approved": true,`, 1), PlanNone},
		{"added within", strings.Replace(text, `"policies": {`, `"policies": {"approved": "yes",`, 1), PlanNone},
		{"added to a record", strings.Replace(text, `"action": "create"`, `"action": "create", "x": 1`, 1), PlanEdited},
		{"twice", strings.Replace(text, `"structure": [`, `"structure": [], "structure": [`, 1), PlanNone},
		{"followed", text + "approved", PlanFollowed},
		{"of another kind", `{"path": "/jobs"}`, PlanNone},
		{"no JSON", "Dear operator", PlanNone},
		{"spaced", strings.ReplaceAll(text, "\n", "\n\n\t") + "\n", ""},
	} {
		_, err := ReadApproved(strings.NewReader(c.text))
		var bad *PlanFileError
		if c.kind == "" && err != nil || c.kind != "" && (!errors.As(err, &bad) || bad.Kind != c.kind) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Reading a saved plan does not keep its records in memory.
func TestPlanIsReadInAStream(t *testing.T) {
	_, b := savedPlan(t)
	head, rest, _ := bytes.Cut(b, []byte(`"records": [`))
	const records = 40_000 // 6 MB of JSON
	item := []byte(`{"path": "/ingest/mrtQ-05000000000001", "queue": "ingest", "sha256": "` + strings.Repeat("0", 64) + `", "action": "create"},`)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, after := heap(), uint64(0)
	parts := []io.Reader{bytes.NewReader(head), strings.NewReader(`"records": [`)}
	for range records {
		parts = append(parts, bytes.NewReader(item))
	}
	parts = append(parts, readerFunc(func([]byte) (int, error) {
		after = heap()
		return 0, io.EOF
	}), bytes.NewReader(bytes.TrimLeft(rest, " \n")))
	inputs := heap() - before
	_, err := ReadApproved(io.MultiReader(parts...))
	var bad *PlanFileError
	if !errors.As(err, &bad) || bad.Kind != PlanEdited || !strings.HasPrefix(bad.In, "its list of records") {
		t.Errorf("with %d records more: %v", records, err)
	}
	if after == 0 || after > before+inputs+1<<20 {
		t.Errorf("%d bytes are in memory after %d records", after-before-inputs, records)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
