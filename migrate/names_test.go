package migrate

import (
	"slices"
	"strings"
	"testing"
)

// testNames are names that look numbered and are not, and names with a stem that is the beginning
// of another stem.
var testNames = []string{
	"", "/", "/jobs/jid0000000001", "/jobs/jid0000000010", "/jobs/jid2147483647", "/jobs/jid2147483648", "/jobs/jid9999999999",
	"/jobs/jid-000000001", "/jobs/jid-000000002", "/jobs/jid-2147483648", "/jobs/jid-1000000000", "/jobs/jid-0000000001", "/jobs/jid00000000001",
	"/jobs/jid000000001", "/jobs/jid+000000001", "/jobs/jid000000001x", "/jobs/jid-0000000000", "0000000001", "-000000001", "x", "jid",
	"/jobs/jid00000000010000000001", "/jobs/jid0", "/jobs/jid1_00000001", "/ingest/mrtQ-050000000001", "/ingest/mrtQ-510000000001", "/é0000000001",
}

func TestNamesComeBack(t *testing.T) {
	table := newNames()
	for range 2 { // new, then known
		for _, name := range testNames {
			r := table.ref(name)
			if got := table.text(r); got != name {
				t.Errorf("%q comes back as %q", name, got)
			}
			if found, ok := table.find(name); !ok || found != r {
				t.Errorf("%q is found as %v, %v; want %v", name, found, ok, r)
			}
		}
	}
	if r, ok := table.find("/never"); ok {
		t.Errorf("a name that was never added is found as %v", r)
	}
	if r := table.ref(""); r != (ref{}) {
		t.Errorf("the empty name is %v, want the zero ref", r)
	}
}

func TestRefsOrderAsNames(t *testing.T) {
	table := newNames()
	var refs []ref
	for _, name := range slices.Backward(testNames) {
		refs = append(refs, table.ref(name))
	}
	slices.SortFunc(refs, table.compare)
	var got []string
	for _, r := range refs {
		got = append(got, table.text(r))
	}
	if want := slices.SortedFunc(slices.Values(testNames), strings.Compare); !slices.Equal(got, want) {
		t.Errorf("refs sort as\n%q, want\n%q", got, want)
	}
}

func FuzzNames(f *testing.F) {
	for i, name := range testNames {
		f.Add(name, testNames[len(testNames)-1-i])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		table := newNames()
		x, y := table.ref(a), table.ref(b)
		if table.text(x) != a || table.text(y) != b {
			t.Fatalf("%q and %q come back as %q and %q", a, b, table.text(x), table.text(y))
		}
		if got, want := table.compare(x, y), strings.Compare(a, b); got < 0 != (want < 0) || got > 0 != (want > 0) {
			t.Fatalf("%q compares with %q as %d, want %d", a, b, got, want)
		}
	})
}
