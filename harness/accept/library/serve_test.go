package library_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mrtq/harness/accept/library"
	"mrtq/newqueue"
)

// quiet is a library whose sessions do nothing. It counts those that have not ended.
type quiet struct{ open atomic.Int64 }

func (l *quiet) Capabilities() library.Capabilities { return library.Capabilities{Name: "quiet 1"} }

func (l *quiet) Open(_ context.Context, root string, _ newqueue.Dialect) (library.Session, error) {
	if root == "/missing" {
		return nil, &library.Refusal{Kind: library.Other, Text: "there is no " + root}
	}
	l.open.Add(1)
	return quietSession{l}, nil
}

type quietSession struct{ l *quiet }

func (quietSession) ID() int64 { return 1 }

func (quietSession) Do(context.Context, library.Request) (library.Answer, error) {
	return library.Answer{}, nil
}

func (s quietSession) End() error {
	s.l.open.Add(-1)
	return nil
}

func served(t *testing.T, l library.Library, requests ...string) (answers []string) {
	t.Helper()
	var in, out strings.Builder
	for i, r := range append([]string{`"verb":"hello","protocol":1`}, requests...) {
		fmt.Fprintf(&in, "{\"n\":%d,%s}\n", i, r)
	}
	opener := func(context.Context, string, []string) (library.Library, error) { return l, nil }
	if err := library.Serve(t.Context(), strings.NewReader(in.String()), &out, opener); err != nil {
		t.Fatal(err)
	}
	answers = make([]string, len(requests)+1)
	for line := range strings.Lines(out.String()) {
		var r struct{ N int }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		answers[r.N] = strings.TrimSuffix(line, "\n")
	}
	return answers[1:]
}

// TestServeSessionsAtOnce: sessions are opened, used and closed without waiting for an answer, and none is left.
func TestServeSessionsAtOnce(t *testing.T) {
	l := &quiet{}
	var requests []string
	for _, verb := range []string{"open", "repair", "close"} {
		for i := range 1000 {
			requests = append(requests, fmt.Sprintf(`"verb":%q,"session":"s%d"`, verb, i))
		}
	}
	for i, answer := range served(t, l, requests...) {
		if !strings.HasPrefix(answer, "{") || strings.Contains(answer, "refused") {
			t.Fatalf("request %s: answer %q", requests[i], answer)
		}
	}
	if left := l.open.Load(); left != 0 {
		t.Errorf("%d sessions are left", left)
	}
}

// TestServeOrder: what a session may be asked, and when.
func TestServeOrder(t *testing.T) {
	const notOpen = `"refused":{"kind":"other","text":"the session is not open"}}`
	l := &quiet{}
	got := served(t, l,
		`"verb":"repair","session":"s1"`,
		`"verb":"open","session":"s1","root":"/missing"`,
		`"verb":"repair","session":"s1"`,
		`"verb":"open","session":"s1"`,
		`"verb":"open","session":"s1"`,
		`"verb":"close","session":"s1"`,
		`"verb":"close","session":"s1"`,
		`"verb":"open","session":"s1"`,
	)
	want := []string{
		`{"n":1,` + notOpen,
		`{"n":2,"refused":{"kind":"other","text":"there is no /missing"}}`,
		`{"n":3,` + notOpen,
		`{"n":4,"zk_session":"0x1"}`,
		`{"n":5,"refused":{"kind":"other","text":"the session is open already"}}`,
		`{"n":6}`,
		`{"n":7,` + notOpen,
		`{"n":8,"zk_session":"0x1"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if left := l.open.Load(); left != 0 {
		t.Errorf("%d sessions are left", left)
	}
}

// TestServeForgets: a driver keeps nothing of a session that was closed, or was never opened.
func TestServeForgets(t *testing.T) {
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	opener := func(context.Context, string, []string) (library.Library, error) { return &quiet{}, nil }
	ended := make(chan error)
	go func() { ended <- library.Serve(t.Context(), in, out, opener) }()
	lines := bufio.NewScanner(answers)
	ask := func(r string) {
		t.Helper()
		if _, err := io.WriteString(requests, "{"+r+"}\n"); err != nil || !lines.Scan() {
			t.Fatalf("%s: %v, %v", r, err, lines.Err())
		}
	}
	ask(`"verb":"hello","protocol":1`)
	before := runtime.NumGoroutine()
	for i := range 100 {
		ask(fmt.Sprintf(`"verb":"open","session":"a%d"`, i))
		ask(fmt.Sprintf(`"verb":"close","session":"a%d"`, i))
		ask(fmt.Sprintf(`"verb":"open","session":"b%d","root":"/missing"`, i))
		ask(fmt.Sprintf(`"verb":"repair","session":"c%d"`, i))
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) { // the last one may still be ending
		if time.Now().After(end) {
			t.Fatalf("%d goroutines more than before", runtime.NumGoroutine()-before)
		}
	}
	requests.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
