package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/harness/minizk"
)

var served = regexp.MustCompile(`(?m)^metrics: (http://\S+)$`)

const openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// scrape reads metrics: values by name and labels, such as mrtq_jobs{state="held"}.
func scrape(t *testing.T, url string) map[string]float64 {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %v", resp.Status, err)
	}
	if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, openMetrics) {
		t.Errorf("Content-Type %q", got)
	}
	if !strings.HasSuffix(string(text), "\n# EOF\n") {
		t.Errorf("it does not end as OpenMetrics does:\n%s", text)
	}
	return parse(t, text)
}

// parse reads metrics with Prometheus's own parser.
func parse(t *testing.T, text []byte) map[string]float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("Prometheus can't read it: %v\n%s", err, text)
	}
	values := map[string]float64{}
	for name, family := range families {
		for _, m := range family.Metric {
			at := name
			if len(m.Label) > 0 {
				at += fmt.Sprintf("{%s=%q}", m.Label[0].GetName(), m.Label[0].GetValue())
			}
			if _, twice := values[at]; twice || len(m.Label) > 1 {
				t.Errorf("%s is there twice, or has more labels", at)
			}
			values[at] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
		}
	}
	return values
}

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

// scrapeUntil scrapes until a metric has a value.
func scrapeUntil(t *testing.T, url, name string, value float64) map[string]float64 {
	t.Helper()
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		got := scrape(t, url)
		if got[name] == value {
			return got
		}
		if time.Now().After(late) {
			t.Fatalf("%s: no %v in %v", name, value, got)
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
	for name := range scrapeUntil(t, url, `mrtq_jobs{state="pending"}`, 1) {
		if strings.Contains(name, "secret-word") || strings.Contains(name, "ann") {
			t.Errorf("%s", name)
		}
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
