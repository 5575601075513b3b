package legacy

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestParseKey(t *testing.T) {
	tests := []struct {
		name string
		want Key
	}{
		{"mrtQ-02100000000003", Key{Priority: 2, HighPriority: true, Worker: "0", Sequence: 3, Flagged: true}},
		{"mrtQ-05030000000005", Key{Priority: 5, Worker: "3", Sequence: 5, Flagged: true}},
		{"mrtQ-99192147483647", Key{Priority: 99, HighPriority: true, Worker: "9", Sequence: math.MaxInt32, Flagged: true}},
		{"mrtQ-000000025100", Key{Sequence: 25100}},
		{"mrtQ-0210-2147483648", Key{Priority: 2, HighPriority: true, Worker: "0", Sequence: math.MinInt32, Flagged: true}},
		{"mrtQ-02-2147483648", Key{Priority: 2, Sequence: math.MinInt32}},
		{"mrtQ-02-1000000000", Key{Priority: 2, Sequence: -1000000000}},
		{"mrtQ-02-999999999", Key{Priority: 2, Sequence: -999999999}},
		{"mrtQ-0200-000000001", Key{Priority: 2, Worker: "0", Sequence: -1, Flagged: true}},
		// Without a worker: 13 digits. A sign makes them as long as the form with one, and the short form as long as they are.
		{"mrtQ-0510000212177", Key{Priority: 5, HighPriority: true, Sequence: 212177, Flagged: true}},
		{"mrtQ-0500000212178", Key{Priority: 5, Sequence: 212178, Flagged: true}},
		{"mrtQ-0000000000001", Key{Sequence: 1, Flagged: true}},
		{"mrtQ-9912147483647", Key{Priority: 99, HighPriority: true, Sequence: math.MaxInt32, Flagged: true}},
		{"mrtQ-051-2147483648", Key{Priority: 5, HighPriority: true, Sequence: math.MinInt32, Flagged: true}},
		{"mrtQ-050-000000001", Key{Priority: 5, Sequence: -1, Flagged: true}},
	}
	for _, test := range tests {
		got, err := ParseKey(test.name)
		if err != nil || got != test.want {
			t.Errorf("%s: got %+v, %v", test.name, got, err)
		}
		if got.String() != test.name {
			t.Errorf("%s: printed as %s", test.name, got)
		}
		if got.Skipped() != (test.want.Sequence < 0) {
			t.Errorf("%s: skipped %t", test.name, got.Skipped())
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	tests := []struct{ name, want string }{
		{"not-a-queue-entry", `bad-key: name "not-a-queue-entry" doesn't begin with "mrtQ-"`},
		{"", `bad-key: name "" doesn't begin with "mrtQ-"`},
		{"mrtQ-", `bad-key: name "mrtQ-" has 0 characters after "mrtQ-": expected 14 or 13 digits (ingest), or 12 (inventory, access, old ingest)`},
		{"mrtQ-0520000000001", `bad-key: name "mrtQ-0520000000001" has high-priority flag "2": expected 0 or 1`},
		{"mrtQ-052-0000000005", `bad-key: name "mrtQ-052-0000000005" has high-priority flag "2": expected 0 or 1`},
		{"mrtQ-050x0000000005", `bad-key: name "mrtQ-050x0000000005" has "x" where a digit should be`},
		{"mrtQ-050000000000005", `bad-key: name "mrtQ-050000000000005" has 15 characters after "mrtQ-": expected 14 or 13 digits (ingest), or 12 (inventory, access, old ingest)`},
		{"mrtQ-0a000000000001", `bad-key: name "mrtQ-0a000000000001" has "a" where a digit should be`},
		{"mrtQ-02200000000003", `bad-key: name "mrtQ-02200000000003" has high-priority flag "2": expected 0 or 1`},
		{"mrtQ-02102147483648", `bad-key: name "mrtQ-02102147483648" has sequence "2147483648": expected ZooKeeper's %010d of a signed 32-bit number`},
		{"mrtQ-02-2147483649", `bad-key: name "mrtQ-02-2147483649" has sequence "-2147483649": expected ZooKeeper's %010d of a signed 32-bit number`},
		{"mrtQ-02+000000003", `bad-key: name "mrtQ-02+000000003" has sequence "+000000003": ZooKeeper writes that number as "0000000003"`},
		{"mrtQ-02-000000000", `bad-key: name "mrtQ-02-000000000" has sequence "-000000000": ZooKeeper writes that number as "0000000000"`},
		{"mrtQ-02-0000000005", `bad-key: name "mrtQ-02-0000000005" has sequence "-0000000005": ZooKeeper writes that number as "-000000005"`},
		{"mrtq-000000025100", `bad-key: name "mrtq-000000025100" doesn't begin with "mrtQ-"`},
		{"mrtQ-000000é25100", `bad-key: name "mrtQ-000000é25100" has sequence "000é25100": expected ZooKeeper's %010d of a signed 32-bit number`},
	}
	for _, test := range tests {
		key, err := ParseKey(test.name)
		if err == nil || key != (Key{}) {
			t.Errorf("%q: got %+v, %v", test.name, key, err)
			continue
		}
		if !errors.Is(err, BadKey) {
			t.Errorf("%q: %v isn't a bad key", test.name, err)
		}
		if err.Error() != test.want {
			t.Errorf("%q:\n got %s\nwant %s", test.name, err, test.want)
		}
	}
}

func TestKeyOrder(t *testing.T) {
	keys := []Key{}
	// The numbers 1, 2, 3 (in 14 digits, in 13 and in 12), 10000000001, …, and the skipped. A key with fewer digits is a smaller number.
	want := []string{"mrtQ-000000000001", "mrtQ-000000000002", "mrtQ-00000000000003", "mrtQ-0000000000003", "mrtQ-000000000003", "mrtQ-010000000001",
		"mrtQ-0500000212178", "mrtQ-0510000212177", "mrtQ-990000000001",
		"mrtQ-02000000000009", "mrtQ-02100000000001", "mrtQ-05000000000004", "mrtQ-05000000000005", "mrtQ-05010000000001", "mrtQ-99192147483647",
		"mrtQ-00-2147483648", "mrtQ-00-000000001", "mrtQ-050-000000001", "mrtQ-0210-2147483648", "mrtQ-0500-2147483647"}
	for _, name := range want {
		k, err := ParseKey(name)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	slices.Reverse(keys)
	slices.SortFunc(keys, Key.Compare)
	for i, k := range keys {
		if k.String() != want[i] {
			t.Errorf("at %d: got %s, want %s", i, k, want[i])
		}
	}
}

func anyKey() *rapid.Generator[Key] {
	return rapid.Custom(func(t *rapid.T) Key {
		k := Key{Priority: rapid.IntRange(0, 99).Draw(t, "priority"), Sequence: rapid.Int32().Draw(t, "sequence"), Flagged: rapid.Bool().Draw(t, "flagged")}
		if k.Flagged {
			k.HighPriority = rapid.Bool().Draw(t, "high")
			k.Worker = rapid.StringMatching(`[0-9]?`).Draw(t, "worker")
		}
		return k
	})
}

func TestKeyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := anyKey().Draw(t, "k")
		if got, err := ParseKey(k.String()); err != nil || got != k {
			t.Fatalf("got %+v, %v", got, err)
		}
		l, m := anyKey().Draw(t, "l"), anyKey().Draw(t, "m")
		if k.Compare(l) != -l.Compare(k) || (k.Compare(l) == 0) != (k == l) {
			t.Fatalf("%s and %s: %d, %d", k, l, k.Compare(l), l.Compare(k))
		}
		if k.Compare(l) < 0 && l.Compare(m) < 0 && k.Compare(m) >= 0 {
			t.Fatalf("%s < %s < %s, but not the first of the last", k, l, m)
		}
		if c := cmp.Compare(k.Rank(), l.Rank()); c != 0 && c != k.Compare(l) {
			t.Fatalf("ranks %d and %d, but the keys compare as %d", k.Rank(), l.Rank(), k.Compare(l))
		}
	})
}
