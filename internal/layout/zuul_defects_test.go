package layout_test

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

// Znodes of the sound tree.
const (
	gate      = "/zuul/tenant/acme/pipeline/gate"
	gateQueue = gate + "/queue/8371ca45eada4b279c830234530101cb"
	gateItem  = gate + "/item/3ab0d4da173e44d5ac950a88bbee6e7a"
	lastItem  = gate + "/item/7dc8ae65471e46abb684744cc3041106"
	gateSet   = gateItem + "/buildset/65b80cc493fc41a7866a1b3166b93c70"
	gateJob   = gateSet + "/job/656b70aba2e24e9895dbf929935f7d25"
	gateBuild = gateJob + "/build/b18b8f3965024f1db4795571493c021f"
	unzoned   = "/zuul/executor/unzoned"
	running   = "d91b65e90af941fd9f707b08983fc6c5"
	merging   = "12c2e4fca11b45769466cc9568a0303b"
	checkMgmt = "/zuul/events/tenant/acme/pipelines/check/management/queue/q0000000000"
	nobody    = "ffffffffffffffffffffffffffffffff"
	bigFile   = "/zuul/config/cache/git.example.org%2Facme%2Fwidgets/main/files/zuul.d%2Flarge.yaml"
	oldFile   = "/zuul/config/cache/git.example.org%2Facme%2Fold/master/files/large.yaml"
)

// forest is a tree that is easy to change.
type forest map[string]znode.Node

func zuulForest(t *testing.T) forest {
	t.Helper()
	f := forest{}
	for n := range readDump(t, "zuul-tree.ndjson.gz").All("/") {
		f[n.Path] = *n
	}
	return f
}

// after checks the tree after a change.
func (f forest) after(t *testing.T, m *layout.Map, do change) []layout.Finding {
	t.Helper()
	changed, tree := maps.Clone(f), znode.NewTree()
	do(t, changed)
	for _, n := range changed {
		if err := tree.Put(n); err != nil {
			t.Fatal(err)
		}
	}
	return check(t, m, tree)
}

// change is one change to a tree.
type change func(t *testing.T, tree forest)

// put makes a znode with data.
func put(path, data string) change {
	return func(t *testing.T, tree forest) {
		owner := int64(0)
		if strings.Contains(path, "lock__") {
			owner = 7
		}
		tree[path] = znode.Node{Path: path, Data: []byte(data), Stat: znode.Stat{Czxid: 1, EphemeralOwner: owner}}
	}
}

// gone removes a znode and what is below it.
func gone(path string) change {
	return func(t *testing.T, tree forest) {
		if _, there := tree[path]; !there {
			t.Fatalf("there is no %s", path)
		}
		maps.DeleteFunc(tree, func(at string, _ znode.Node) bool { return znode.Within(at, path) })
	}
}

// moved gives a znode and what is below it another path.
func moved(from, to string) change {
	return func(t *testing.T, tree forest) {
		for at, n := range maps.Clone(tree) {
			if znode.Within(at, from) {
				n.Path = to + at[len(from):]
				tree[n.Path] = n
			}
		}
		gone(from)(t, tree)
	}
}

// set sets a key in a znode's JSON, or in that of its first shard. No value removes it.
func set(path, key, value string) change {
	return func(t *testing.T, tree forest) {
		n := tree[path]
		if shard, there := tree[path+"/0000000000"]; there {
			n = shard
		}
		var fields map[string]any
		data, packed := unpack(t, n.Data)
		if err := json.Unmarshal(bytes.ReplaceAll(data, []byte("Infinity"), []byte("0")), &fields); err != nil {
			t.Fatalf("%s: %v", n.Path, err)
		}
		if fields[key] = json.RawMessage(value); value == "" {
			delete(fields, key)
		}
		data, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		if packed {
			data = pack(data)
		}
		put(n.Path, string(data))(t, tree)
	}
}

func unpack(t *testing.T, data []byte) ([]byte, bool) {
	t.Helper()
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return data, false
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return all, true
}

func pack(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// all makes several changes.
func all(changes ...change) change {
	return func(t *testing.T, tree forest) {
		for _, do := range changes {
			do(t, tree)
		}
	}
}

// zuulDefects are changes to the sound tree, by class, and the rule that each breaks. Several
// break one rule in different ways. Package merritt breaks every rule in one way.
var zuulDefects = []struct {
	class, rule string
	do          change
}{
	{"types", "pipeline/bad-shape", set(gate, "queues", `{}`)},
	{"types", "pipeline/bad-shape", set(gate, "consecutive_failures", `"0"`)},
	{"types", "queue/bad-shape", set(gateQueue, "window", `"20"`)},
	{"types", "item/bad-shape", set(lastItem, "live", `"yes"`)},
	{"types", "buildset/bad-shape", set(gateSet, "builds", `[]`)},
	{"types", "job/bad-shape", set(gateJob, "attempts", `"3"`)},
	{"types", "build/bad-shape", set(gateBuild, "result", `5`)},
	{"types", "build/bad-shape", set(gateBuild, "build_request_ref", `"/zuul/merger"`)},
	{"types", "unzoned.request/bad-shape", set(unzoned+"/requests/"+running, "precedence", `"200"`)},
	{"types", "layout/bad-shape", set("/zuul/layout/acme", "last_reconfigured", `"today"`)},
	{"types", "change-entry/bad-shape", set("/zuul/cache/connection/gerrit/cache/94b4cb3f07e7a1cbd106e6a39220e692b3a45fab3de1456e4692b74cc09ffc0b", "data_uuid", `"x"`)},
	{"types", "component/bad-shape", set("/zuul/components/web/zw01.example.org0000000000", "model_api", `"33"`)},
	{"types", "config-branch/bad-shape", set("/zuul/config/cache/git.example.org%2Facme%2Fold/master", "ltime", `"7"`)},
	{"types", "semaphore/bad-shape", put("/zuul/semaphores/acme/implied", `["x"]`)},
	{"types", "tenant-management.entry/bad-shape", set("/zuul/events/tenant/acme/management/queue/q0000000002", "event_data", `"x"`)},
	{"references of the wrong kind", "merger.result/result-without-data", set("/zuul/merger/results/"+merging, "result_data_path", `"/zuul/merger/params/`+merging+`"`)},
	{"references of the wrong kind", "merger.result/result-without-data", set("/zuul/merger/results/"+merging, "result_data_path", `"/zuul/merger/result-data/8a5b7c980b9b45f1985060435466f40f"`)},
	{"references of the wrong kind", "merger.request/other-result", set("/zuul/merger/requests/"+merging, "result_path", `"/zuul/merger/results/8a5b7c980b9b45f1985060435466f40f"`)},
	{"references of the wrong kind", "pipeline/dangling-reference", set(gate, "queues", `["`+gateQueue+`","`+gateItem+`"]`)},
	{"references of the wrong kind", "queue/dangling-reference", set("/zuul/tenant/legacy/pipeline/check/queue/0cda00d1944e4a4f8c4c96f1aa0a5b91", "queue", `["`+gateItem+`"]`)},
	{"references of the wrong kind", "item/dangling-reference", set(lastItem, "current_build_set", `"`+gateSet+`"`)},
	{"references of the wrong kind", "connection-queue.entry/dangling-reference", set("/zuul/events/connection/github/events/queue/q0000000003", "event_data_path", `"/zuul/ltime"`)},
	{"references of the wrong kind", "semaphore/dangling-reference", put("/zuul/semaphores/acme/implied", `[{"buildset_path":"`+gateItem+`","job_name":"build"}]`)},
	{"references of the wrong kind", "pipeline-management.entry/bad-result", set(checkMgmt, "result_path", `"/zuul/ltime"`)},
	{"required", "ltime/missing", gone("/zuul/ltime")},
	{"required", "layout/bad-shape", set("/zuul/layout/acme", "uuid", "")},
	{"required", "system-conf/missing", gone("/zuul/system/conf")},
	{"required", "system-conf/empty-blob", gone("/zuul/system/conf/0000000000")},
	{"required", "system-conf/bad-shape", set("/zuul/system/conf", "unparsed_abide", "")},
	{"required", "system-conf/bad-shape", set("/zuul/system/conf", "system_attributes", "")},
	{"required", "system-conf/bad-shape", set("/zuul/system/conf", "unparsed_abide", `{"tenants":{}}`)},
	{"required", "unzoned.request/bad-shape", set(unzoned+"/requests/"+running, "state", "")},
	{"required", "queue/bad-shape", set(gateQueue, "queue", "")},
	{"required", "item/bad-shape", set(lastItem, "uuid", "")},
	{"required", "build/bad-shape", set(gateBuild, "uuid", "")},
	{"required", "pipeline-result.entry/bad-shape", set("/zuul/events/tenant/acme/pipelines/check/result/queue/q0000000000", "event_type", "")},
	{"required", "branch-cache/empty-blob", gone("/zuul/cache/connection/gerrit/branches/data/0000000000")},
	{"shards", "config-file/short-shard", func(t *testing.T, tree forest) {
		first, second := tree[bigFile+"/0000000000"].Data, tree[bigFile+"/0000000001"].Data
		put(bigFile+"/0000000001", string(first[len(first)-10:])+string(second))(t, tree)
		put(bigFile+"/0000000000", string(first[:len(first)-10]))(t, tree)
	}},
	{"shards", "config-file/short-shard", put(oldFile+"/0000000001", string(pack([]byte("short"))))},
	{"locks", "unzoned.request/running-without-lock", gone(unzoned + "/locks/" + running)},
	{"locks", "unzoned.request/running-without-lock", gone(unzoned + "/locks/" + running + "/7f86486c0ad44f1b99d9ddb74b7dd2d3__lock__0000000000")},
	{"locks", "tenant-lock/equal-numbers", put("/zuul/locks/tenant/acme/"+nobody+"__lock__0000000000", "")},
	{"locks", "pipeline-lock/read-lock", put("/zuul/locks/pipeline/acme/gate/"+nobody+"__rlock__0000000009", "")},
	{"locks", "timer-election/read-lock", put("/zuul/scheduler/timer-election/"+nobody+"__rlock__0000000009", "")},
	{"escapes", "semaphore/bad-name", moved("/zuul/semaphores/acme/gpu%2Fbig", "/zuul/semaphores/acme/gpu%2")},
	{"escapes", "config-repo/bad-name", moved("/zuul/config/cache/git.example.org%2Facme%2Fold", "/zuul/config/cache/git.example.org%2facme%2fold")},
	{"escapes", "config-lock/bad-name", put("/zuul/config/lock/a b", "")},
	{"escapes", "pipeline-lock/bad-name", put("/zuul/locks/pipeline/acme/%FF", "")},
}

// Each change breaks one rule that the sound tree keeps.
func TestZuulDefects(t *testing.T) {
	m, sound := zuul(t), zuulForest(t)
	light := maps.Clone(sound) // without two large blobs, so that it is quickly checked
	for _, blob := range []string{bigFile, "/zuul/executor/zones/eu-west/params/2f4230ebecc44160b9ac94a64eaee6a8"} {
		gone(blob)(t, light)
	}
	before := map[string]bool{}
	for _, f := range sound.after(t, m, all()) {
		before[f.Path+f.Rule] = true
	}
	for _, c := range zuulDefects {
		t.Run(c.class+" "+c.rule, func(t *testing.T) {
			t.Parallel()
			tree := light
			if c.class == "shards" {
				tree = sound
			}
			found := tree.after(t, m, c.do)
			if !slices.ContainsFunc(found, func(f layout.Finding) bool { return f.Rule == c.rule && !before[f.Path+f.Rule] }) {
				t.Errorf("%s is not found, only %v", c.rule, slices.DeleteFunc(found, func(f layout.Finding) bool { return before[f.Path+f.Rule] }))
			}
		})
	}
}

// Variants that the document allows, and paths that only later versions write, are
// neither errors nor warnings.
func TestZuulVariants(t *testing.T) {
	m, sound := zuul(t), zuulForest(t)
	for name, do := range map[string]change{
		"later paths": all(put("/zuul/locks/connection/database/migration/"+nobody+"__lock__0000000000", ""), put("/zuul/nodeset/requests/"+nobody, "{}"), put("/zuul/nodes/nodes/"+nobody, "{}"),
			put("/zuul/images/artifacts/x", "{}"), put("/zuul/image-uploads/uploads/x", "{}"), put("/zuul/validate/"+nobody+"/cache", ""), put("/zuul/provider", ""), put("/zuul/launcher/stats-election", ""),
			put("/zuul/tenant/acme/provider/x/config", "{}"), put("/zuul/events/tenant/acme/state", "{}"), put(gateSet+"/config_errors", ""), put(gateJob+"/artifact_data", "")),
		"an entry of 2021":          moved("/zuul/events/connection/gerrit/events/queue/q0000000000", "/zuul/events/connection/gerrit/events/queue/0000000000"),
		"a job of 2021":             all(put(gateSet+"/job/build+all%2Fslow", `{"name":"build all/slow"}`)),
		"a new tenant":              all(put("/zuul/tenant/new/pipeline/check", `{"queues":[],"old_queues":[]}`), put("/zuul/locks/tenant/new", ""), put("/zuul/events/tenant/new/trigger/queue", ""), put("/zuul/semaphores/new", "")),
		"a semaphore of nobody":     put("/zuul/semaphores/acme/free", ""),
		"quoted names":              all(put("/zuul/locks/pipeline/a+b%2Fc/%C3%A9t%C3%A9", ""), put("/zuul/config/lock/git.example.org%2F%7Eacme", "")),
		"a tenant that is unquoted": all(put("/zuul/layout/50% more", `{"tenant_name":"50% more","uuid":"`+nobody+`"}`), put("/zuul/events/tenant/50% more/management", "")),
		"an empty file of 2021":     gone("/zuul/config/cache/git.example.org%2Facme%2Fold/master/files/zuul.yaml/0000000000"),
		"a reset":                   all(gone("/zuul/tenant"), gone("/zuul/semaphores"), gone("/zuul/executor"), gone("/zuul/merger")),
		"data being written":        put("/zuul/merger/result-data/"+nobody, ""),
		"a readers' lock":           put("/zuul/config/lock/git.example.org%2Facme%2Fgadgets/"+nobody+"__rlock__0000000007", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range sound.after(t, m, do) {
				if f.Severity != layout.Info {
					t.Errorf("%v", f)
				}
			}
		})
	}
}
