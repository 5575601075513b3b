package minizk_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

func TestCounts(t *testing.T) {
	s := run(t, minizk.Options{})
	a := raw(t, s)
	do(t, a, newNode("/a", "", 0))
	do(t, a, newNode("/a", "", 0))
	do(t, a, opRead(jute.OpGetData, "/a"))
	do(t, a, opRead(jute.OpGetData, "/nope"))
	do(t, a, jute.Request{Op: jute.OpMulti, Ops: []jute.Request{opCheck("/a", -1)}})
	if _, _, err := a.DoXid(jute.XidPing, jute.OpPing, nil); err != nil {
		t.Fatal(err)
	}
	c := s.Counts()
	if c.Reads != 2 || c.Writes != 3 || c.ByOp[jute.OpCreate] != 2 || c.ByOp[jute.OpPing] != 1 {
		t.Errorf("%+v", c)
	}
	s.ResetCounts()
	do(t, a, opRead(jute.OpExists, "/a"))
	if c := s.Counts(); c.Reads != 1 || c.Writes != 0 || len(c.ByOp) != 1 {
		t.Errorf("after reset %+v", c)
	}
}

func TestLog(t *testing.T) {
	s := run(t, minizk.Options{Now: time.Date(2020, 1, 2, 3, 4, 5, 6e6, time.UTC)})
	a := raw(t, s)
	if _, _, err := a.Do(packet(jute.Request{Op: jute.OpAuth, Scheme: "digest", Data: []byte("user:SECRET")})); err != nil {
		t.Fatal(err)
	}
	do(t, a, newNode("/a", "", 0))
	do(t, a, newNode("/a", "", 0))
	var b bytes.Buffer
	must(t, s.WriteLog(&b))
	all := `     1 03:04:05.006 0x16f6435cc8e0000 zxid 1 createSession opened
     2 03:04:05.006 0x16f6435cc8e0000 zxid 1 auth digest
     3 03:04:05.006 0x16f6435cc8e0000 zxid 2 create /a
     4 03:04:05.006 0x16f6435cc8e0000 zxid 3 create /a: NodeExists
`
	if b.String() != all {
		t.Errorf("log\n%swant\n%s", b.String(), all)
	}
	do(t, a, jute.Request{Op: jute.OpMulti, Ops: []jute.Request{opCheck("/a", 0), opSet("/a", "", -1)}})
	log := s.Log()
	if len(log) != 5 || log[4].Path != "check /a, setData /a" || log[4].Err != jute.OK {
		t.Errorf("log %v", log)
	}
	do(t, a, jute.Request{Op: jute.OpMulti, Ops: []jute.Request{opSet("/a", "", -1), opCheck("/a", 7), opSet("/a", "", -1)}})
	if log := s.Log(); log[5].Err == jute.OK || !strings.HasSuffix(log[5].String(), ": "+log[5].Err.String()) {
		t.Errorf("a multi that was refused: %v", log[5])
	}
	for range 2500 {
		do(t, a, opRead(jute.OpExists, "/"+strings.Repeat("x", 1000)))
	}
	if log := s.Log(); len(log) != 1000 || log[999].N != 2506 || log[999].Path != "/"+strings.Repeat("x", 299)+"…" {
		t.Errorf("after many requests the log has %d entries, the last is %v", len(log), log[len(log)-1])
	}
}

// TestLogIsHarmless: what a client sends is printed on a terminal if a test fails. It must not
// control the terminal, or look like a line of the log.
func TestLogIsHarmless(t *testing.T) {
	s := run(t, minizk.Options{})
	a := raw(t, s)
	for path, want := range map[string]string{
		"/a b é 世界":                          "/a b é 世界",
		"/a\x1b[2J":                          `"/a\x1b[2J"`,
		"/a\n     9 03:04:05.006":            `"/a\n     9 03:04:05.006"`,
		"/a\xff":                             `"/a\xff"`,
		"/a\u202e":                           `"/a\u202e"`,
		"/" + strings.Repeat("n", 298) + "é": "/" + strings.Repeat("n", 298) + "…",
	} {
		do(t, a, opRead(jute.OpExists, path))
		log := s.Log()
		if got := log[len(log)-1].String(); !strings.HasSuffix(got, " exists "+want+": NoNode") {
			t.Errorf("%q is shown as %s", path, got)
		}
	}
}
