package sides_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"mrtq/internal/sides"
	"mrtq/internal/zkdata"
	"mrtq/internal/znode"
)

// golden is a data directory that Apache's server wrote.
func golden(packing string) string { return filepath.Join("..", "zkdata", "testdata", packing) }

// TestData: through the server, a data directory is what package zkdata reads. That it is also what
// Apache's server had, TestGolden of zkdata tests.
func TestData(t *testing.T) {
	for _, packing := range []string{"plain", "gz"} {
		var said []string
		p := place(t, "snapshot:"+golden(packing))
		s, err := sides.Open(t.Context(), p, sides.Options{Say: func(news string) { said = append(said, news) }})
		must(t, err)
		defer s.Close()
		got, err := znode.ReadDump(strings.NewReader(dumped(t, t.Context(), s.Reader)))
		must(t, err)
		d, err := zkdata.Read(t.Context(), *p.Data, zkdata.Options{})
		must(t, err)
		want := 0
		for n := range d.Tree.Nodes("/") {
			want++
			if m := got.Get(n.Path); m == nil || !znode.SameData(m.Data, n.Data) || n.Path != "/" && m.Stat != n.Stat {
				t.Errorf("%s: %s is %+v, want %+v", packing, n.Path, m, n)
			}
		}
		if got.Len() != want || want < 20 {
			t.Errorf("%s: %d znodes, want %d", packing, got.Len(), want)
		}
		if len(said) != 1 || !strings.HasPrefix(said[0], "the last transaction in "+p.Text+" is 0x") {
			t.Errorf("%s: said %q", packing, said)
		}
	}
}

func TestDataBelowAChroot(t *testing.T) {
	whole, part := source(t, "snapshot:"+golden("plain")), source(t, "snapshot:"+golden("plain")+"#/other")
	n, err := part.Get(t.Context(), "/")
	must(t, err)
	want, err := whole.Get(t.Context(), "/other")
	must(t, err)
	if n.Stat != want.Stat || n.Stat.NumChildren == 0 {
		t.Errorf("%+v, want %+v", n.Stat, want.Stat)
	}
	if names, err := part.Outside().Children(t.Context(), "/"); err != nil || len(names) != 1 {
		t.Errorf("beside the chroot are %v, %v", names, err)
	}
	var bad *zkdata.Error
	if _, err := sides.Open(t.Context(), place(t, "snapshot:"+golden("plain")+"#/none"), sides.Options{}); !errors.As(err, &bad) || !errors.Is(err, zkdata.ErrNoChroot) {
		t.Errorf("a chroot that is not there: %v", err)
	}
}
