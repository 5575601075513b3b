package merritt_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// unlockedSample is the sample of a dialect without locks, which other rules are about.
func unlockedSample(t *testing.T, d newqueue.Dialect) forest {
	f := merrittSample(string(d)).sound(t, named(t, "merritt", string(d)))
	for path := range f.clone() {
		if f[path].Stat.EphemeralOwner != 0 || strings.HasPrefix(path, "/locks/storage/") {
			f.remove(path)
		}
	}
	return f
}

// TestJudged: what a program and mrtq check say of changes of the sample, as testdata/judged.txt lists it. TestEveryRule
// breaks every rule of the layout.
func TestJudged(t *testing.T) {
	text, err := os.ReadFile("testdata/judged.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := append(slices.Clone(merrittNames), "{ff}", "\xff")
	for _, c := range strings.Split(strings.NewReplacer(names...).Replace(string(text)), "\n\n") {
		name, lines, _ := strings.Cut(strings.TrimSpace(c), "\n")
		_, dialect, ok := strings.Cut(name, ", in ")
		if !ok || name[0] == '#' {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f := unlockedSample(t, newqueue.Dialect(dialect))
			var want, got []string
			for line := range strings.SplitSeq(lines, "\n") {
				switch word := append(strings.SplitN(strings.TrimSpace(line), " ", 3), "", ""); word[0] {
				case "older": // a znode, by some hours
					n := f[word[1]]
					hours, _ := strconv.Atoi(word[2])
					n.Stat.Ctime -= int64(hours) * time.Hour.Milliseconds()
					f[word[1]] = n
				case "problem", "check":
					want = append(want, strings.TrimSpace(line))
				default:
					change(word[0], word[1], word[2])(f)
				}
			}
			if strings.HasPrefix(want[0], "check") {
				got = []string{"check " + checked(t, f)}
			} else {
				for _, p := range merritt.Problems(f.tree(t), newqueue.Dialect(dialect)) {
					got = append(got, fmt.Sprintf("problem %s: %s (%s)", p.Path, p.Message(), p.Rule))
				}
				if got == nil {
					got = []string{"problem"}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func checked(t *testing.T, f forest) (all string) {
	var rules []string
	synctest.Test(t, func(t *testing.T) {
		r, err := named(t, "merritt", "mrt-zk").Check(t.Context(), layout.InMemory(f.tree(t)), layout.Options{MaxReads: 3, Now: time.UnixMilli(exampleTime).Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Findings {
			rules = append(rules, fmt.Sprintf("%.1s:%s", x.Severity, x.Rule))
		}
	})
	slices.Sort(rules)
	return strings.Join(rules, " ")
}

// A worker has five seconds to end what it began. Without one nobody waits.
func TestAWorkerIsGivenTime(t *testing.T) {
	for _, c := range []struct {
		locked, ends bool
		want         string
		takes        time.Duration
	}{
		{locked: true, ends: true, takes: 5 * time.Second},
		{locked: true, want: "info", takes: 5 * time.Second},
		{want: "error"},
	} {
		f := unlockedSample(t, newqueue.MrtZK)
		setKey(f, jobPath+"/status", "status", "Estimating") // and not yet its entries
		if c.locked {
			f.contend(jobPath, "lock")
		}
		synctest.Test(t, func(t *testing.T) {
			var tree changing
			tree.Store(f.tree(t))
			if c.ends {
				time.AfterFunc(time.Second, func() { tree.Store(unlockedSample(t, newqueue.MrtZK).tree(t)) })
			}
			began := time.Now()
			r, err := named(t, "merritt", "mrt-zk").Check(t.Context(), &tree, layout.Options{MaxReads: 3, Now: time.UnixMilli(exampleTime).Add(time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, x := range r.Findings {
				if x.Rule == "queue-entry/no-entry" {
					got = string(x.Severity)
					if (x.LockedBy != "") != c.locked || c.locked && x.Repair != "" {
						t.Errorf("%+v: %+v", c, x)
					}
				}
			}
			if took := time.Since(began); got != c.want || took != c.takes {
				t.Errorf("%+v: %q after %v", c, got, took)
			}
		})
	}
}

// changing is a tree that changes between two looks.
type changing struct{ atomic.Pointer[znode.Tree] }

func (c *changing) Get(ctx context.Context, path string) (znode.Node, error) {
	return layout.InMemory(c.Load()).Get(ctx, path)
}

func (c *changing) LastZxid() int64 { return 0 }

func (c *changing) Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return layout.InMemory(c.Load()).Walk(ctx, root)
}
