package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/harness/minizk"
)

var served = regexp.MustCompile(`(?m)^metrics: (http://\S+)$`)

// serving starts mrtq, and returns the address of its metrics. end waits until it ends.
func serving(t *testing.T, dir string, args ...string) (url string, signal func(os.Signal), end func() error) {
	t.Helper()
	cmd := exec.Command("mrtq", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", settings.AuthVariable+"=digest:ann:secret-word")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	text := ""
	for lines := bufio.NewScanner(stderr); url == "" && lines.Scan(); {
		text += lines.Text() + "\n"
		if m := served.FindStringSubmatch(text); m != nil {
			url = m[1]
		}
	}
	if url == "" {
		t.Fatalf("no metrics are served: %s", text)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, stderr)
	}()
	return url, func(s os.Signal) { _ = cmd.Process.Signal(s) }, func() error { <-drained; return cmd.Wait() }
}

// scrapeUntil reads the metrics until one has a value, and returns all their text. What they
// say and in which form is tested where they are made.
func scrapeUntil(t *testing.T, url, name string, value int) string {
	t.Helper()
	line := regexp.MustCompile(fmt.Sprintf(`(?m)^%s %d(\.0)?$`, regexp.QuoteMeta(name), value))
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %v", resp.Status, err)
		}
		if line.Match(text) {
			return string(text)
		}
		if time.Now().After(late) {
			t.Fatalf("%s: no %v in\n%s", name, value, text)
		}
	}
}

// watch --metrics serves the metrics of the target, on this machine only.
func TestWatchServesMetrics(t *testing.T) {
	server := minizk.RunWith(t, minizk.Options{RealTime: true})
	session, err := openTestSession(server.Addr(), "/new")
	if err != nil {
		t.Fatal(err)
	}
	defer session.conn.Close()
	if err := session.make("/new/jobs/states/pending/05-jid0000000001", []byte{}); err != nil {
		t.Fatal(err)
	}
	url, signal, end := serving(t, t.TempDir(), "watch", server.Addr()+"/new", "--metrics", ":0", "--interval", "100ms", "--timeout", "1s")
	if !strings.HasPrefix(url, "http://127.0.0.1:") && !strings.HasPrefix(url, "http://[::1]:") {
		t.Errorf("%s", url)
	}
	if text := scrapeUntil(t, url, `mrtq_jobs{state="pending"}`, 1); strings.Contains(text, "secret-word") || strings.Contains(text, "digest:ann") {
		t.Errorf("a credential is in the metrics:\n%s", text)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	scrapeUntil(t, url, `mrtq_target_up`, 0)
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	scrapeUntil(t, url, `mrtq_target_up`, 1)
	signal(os.Interrupt)
	if err := end(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("metrics are still served")
	}
}
