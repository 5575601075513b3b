package zkdata_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/internal/zkdata"
	"mrtq/internal/znode"
)

var (
	update  = flag.Bool("update", false, "have a real server write the golden directories again")
	torture = flag.Bool("torture", false, "read the directories of servers of every configuration")
)

// TestGolden reads directories that Apache's server wrote, and compares them
// with what the server said about its znodes then. They hold a legacy queue, and
// some of everything else. This test needs no JVM.
func TestGolden(t *testing.T) {
	for _, packing := range []string{"plain", "gz"} {
		t.Run(packing, func(t *testing.T) {
			dir := filepath.Join("testdata", packing)
			if *update {
				writeGolden(t, packing, dir)
			}
			text, err := os.ReadFile(filepath.Join(dir, "said.json"))
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]string
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			same(t, packing, fromFiles(t, dir), want)
			// Check that the snapshot was read, and not only the logs.
			d, err := zkdata.Read(t.Context(), zkdata.Place{Dir: dir}, zkdata.Options{Say: func(s string) { t.Error(s) }})
			if err != nil {
				t.Fatal(err)
			}
			if ext := filepath.Ext(d.Snapshot); packing != "plain" && ext != "."+packing {
				t.Errorf("it was read from %s", d.Snapshot)
			}
		})
	}
}

// writeGolden makes a golden directory: the newest two snapshots, the logs since
// the first of them, and what the server said.
func writeGolden(t *testing.T, packing, dir string) {
	t.Helper()
	data := t.TempDir()
	lines := map[string]string{"snapCount": "16", "extendedTypesEnabled": "true"}
	if packing != "plain" {
		lines["snapshot.compression.method"] = packing
	}
	server := harness.ForTest(t, harness.JVM, harness.Options{DataDir: data, Properties: lines})
	c := connect(t, server.Address())
	dump, err := os.Open("../../features/testdata/legacy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer dump.Close()
	tree, err := znode.ReadDump(dump)
	if err != nil {
		t.Fatal(err)
	}
	open := zk.WorldACL(zk.PermAll)
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.Create("/other", nil, 0, open))
	must(c.CreateContainer("/other/container", []byte("c"), zk.FlagContainer, open))
	must(c.CreateTTL("/other/ttl", []byte("t"), zk.FlagTTL, open, 24*time.Hour))
	must(c.Create("/other/mine", []byte("m"), 0, zk.DigestACL(zk.PermAll, "o", "o")))
	must(c.Create("/other/gone", []byte("g"), 0, open))
	must(nil, c.Delete("/other/gone", -1))
	must(c.Multi(&zk.CreateRequest{Path: "/other/multi", Data: []byte("1"), Acl: open}, &zk.SetDataRequest{Path: "/other/multi", Data: []byte("2"), Version: 0}))
	if _, err := c.Multi(&zk.DeleteRequest{Path: "/other/multi", Version: -1}, &zk.CheckVersionRequest{Path: "/other", Version: 9}); err == nil {
		t.Fatal("a multi that must fail succeeded")
	}
	brief := connect(t, server.Address())
	must(brief.Create("/other/ended", []byte("e"), zk.FlagEphemeral, open))
	brief.Close()
	for n := range tree.All("/") {
		if n.Path != "/" {
			must(c.Create(n.Path, n.Data, 0, open))
		}
	}
	must(c.SetACL("/other/multi", zk.WorldACL(zk.PermRead), -1))
	must(c.Create("/other/lock-", []byte("l"), zk.FlagEphemeral|zk.FlagSequence, open))
	said, err := json.MarshalIndent(fromServer(t, c), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	keep := files{"said.json": append(said, '\n')}
	for name, content := range newest(t, filepath.Join(data, "server.1", "version-2")) {
		keep[filepath.Join("version-2", name)] = content
	}
	keep.writeTo(t, dir)
}

// newest are the newest two snapshots and the logs since, without most of the
// zeros after their ends.
func newest(t *testing.T, dir string) files {
	t.Helper()
	byZxid := func(pattern string) (names []string) {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		zxids := map[int64]string{}
		for _, p := range paths {
			var zxid int64
			if _, err := fmt.Sscanf(filepath.Base(p), pattern[:len(pattern)-1]+"%x", &zxid); err != nil {
				t.Fatal(err)
			}
			zxids[zxid] = p
		}
		for _, z := range slices.Sorted(maps.Keys(zxids)) {
			names = append(names, zxids[z])
		}
		return names
	}
	snaps, logs := byZxid("snapshot.*"), byZxid("log.*")
	f := files{}
	for _, p := range append(snaps[max(0, len(snaps)-2):], logs[max(0, len(logs)-3):]...) {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(p)[:3] == "log" {
			data = append(bytes.TrimRight(data, "\x00"), make([]byte, 64)...)
		}
		f[filepath.Base(p)] = data
	}
	return f
}
