package main

import "testing"

func TestQuarantineFileName(t *testing.T) {
	for target, want := range map[string]string{
		"localhost:2181/new":             "mrtq-quarantine-localhost-2181-new.ndjson",
		"localhost:2182/new":             "mrtq-quarantine-localhost-2182-new.ndjson",
		"zk1:2181,zk2:2181/a/b":          "mrtq-quarantine-zk1-2181-zk2-2181-a-b.ndjson",
		"[::1]:2181":                     "mrtq-quarantine-1-2181.ndjson",
		"file:new.ndjson":                "mrtq-quarantine-new.ndjson",
		"file:new.ndjson.gz":             "mrtq-quarantine-new.ndjson",
		"file:../x y/é\nnew.ndjson":      "mrtq-quarantine-x-y-new.ndjson",
		"localhost:2181/" + "../../../x": "",
	} {
		e, err := parsePlace("TARGET", target)
		if want == "" {
			if err == nil {
				t.Errorf("%q: no error", target)
			}
			continue
		}
		must(t, err)
		if got := quarantineFile(e); got != want {
			t.Errorf("%q: %q, want %q", target, got, want)
		}
	}
}
