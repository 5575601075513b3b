package watching

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"mrtq/migrate"
	"mrtq/migrate/live"
)

const openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// scrape reads metrics: values by name and labels, such as mrtq_jobs{state="held"}.
func scrape(t *testing.T, url string) map[string]float64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", openMetrics)
	resp, err := http.DefaultClient.Do(req)
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

func expect(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, value := range want {
		if v, there := got[name]; !there || v != value {
			t.Errorf("%s: got %v (there: %t), want %v", name, v, there, value)
		}
	}
}

func handler(t *testing.T, c prometheus.Collector) *httptest.Server {
	t.Helper()
	h, err := metricsHandler(c)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func number(f float64) *float64 { return &f }

// hostileNode is a legacy node that an operator could name in a flag. Every format must
// escape its name.
const hostileNode = "a\"b\\c\nd\x1b[2J\u202e"

// full is a view with a value in every field. Names in it try to break the output.
func fullView() live.View {
	const evil = "x\"} 1\nmrtq_evil{a=\"\\\u202e\x1b[2J"
	return live.View{
		Target: "zk1:2181/new", Time: time.Unix(1e9, 0).UTC(), AsOf: time.Unix(1e9, 0).UTC(), Connected: true,
		Jobs: []live.Queue{
			{Name: "pending", Count: 12, Entered: 20, Left: 8, In: number(6), Out: number(1.5), Oldest: &live.OldestView{ID: "jid0000000001", Seconds: 90061, Here: 61}},
			{Name: "held", Count: 0, Entered: 3, Left: 3, In: number(0), Out: number(0)},
			{Name: evil, Count: 2, Entered: 2}, {Name: evil + "2", Count: 3, Entered: 4, Left: 1},
		},
		Access:  []live.Queue{{Name: "small", Count: 1, Entered: 1, Oldest: &live.OldestView{ID: "qid0000000000", Seconds: 5, Here: 5}}, {Name: "large"}},
		Batches: []live.Queue{{Name: "batches", Count: 4, Entered: 4, Oldest: &live.OldestView{ID: "bid0000000000", Seconds: 7, Here: 7}}},
		Source:  []live.Queue{{Name: "/ingest", Count: 9, Entered: 9, In: number(0), Out: number(3)}, {Name: "/" + hostileNode, Count: 1}},
		Holds: []live.HoldView{{Path: "/locks/queue/ingest", Name: "ingest", Seconds: 30}, {Path: "/locks/queue/" + evil, Name: evil},
			{Path: "/locks/collections/" + evil, Name: evil, Collection: true, Seconds: 4000}},
		Locks: live.LocksView{Count: map[live.LockKind]int{live.LockJob: 1, live.LockStorage: 2}, Oldest: 400,
			List: []live.LockView{{Kind: live.LockStorage, Path: "/locks/storage/" + evil, Seconds: 400}, {Kind: live.LockJob, Path: "/jobs/jid0000000001/lock", Seconds: 3, Session: "0x1a2007f6b3f0001"}}},
		Migration: &live.RunView{Run: "run0000000001", State: migrate.Running, Source: evil, Dialect: "design", Owner: evil, Started: time.Unix(1e9-60, 0).UTC(),
			Records: 500, Total: 2000, Transactions: 40, RecordRate: number(50), TransactionRate: number(4)},
		Migrators: 2, Leader: evil,
		Notes: []string{"/jobs/states/" + evil + ": no permission to list it"},
	}
}

// The metrics have the numbers of the view. Names that other clients chose are in no label
// and nowhere else in the text.
func TestWatchMetrics(t *testing.T) {
	m := &metrics{}
	s := handler(t, m)
	got := scrape(t, s.URL+metricsPath)
	if len(got) != 1 || got[`mrtq_target_up`] != 0 {
		t.Errorf("before the first look: %v", got)
	}
	m.set(fullView())
	got = scrape(t, s.URL+metricsPath)
	expect(t, got, map[string]float64{
		`mrtq_target_up`:                                    1,
		`mrtq_jobs{state="pending"}`:                        12,
		`mrtq_jobs{state="other"}`:                          5,
		`mrtq_jobs_entered_total{state="pending"}`:          20,
		`mrtq_jobs_left_total{state="held"}`:                3,
		`mrtq_job_oldest_seconds{state="pending"}`:          90061,
		`mrtq_access_requests{queue="small"}`:               1,
		`mrtq_access_request_oldest_seconds{queue="small"}`: 5,
		`mrtq_batches`:                                      4,
		`mrtq_batch_oldest_seconds`:                         7,
		`mrtq_locks{kind="storage"}`:                        2,
		`mrtq_locks{kind="batch"}`:                          0,
		`mrtq_lock_oldest_seconds`:                          400,
		`mrtq_queue_held{queue="ingest"}`:                   1,
		`mrtq_queue_held{queue="accessLarge"}`:              0,
		`mrtq_collections_held`:                             1,
		`mrtq_migrators`:                                    2,
		`mrtq_run_state{state="running"}`:                   1,
		`mrtq_run_state{state="done"}`:                      0,
		`mrtq_run_records_done_total`:                       500,
		`mrtq_run_records_planned`:                          2000,
		`mrtq_run_transactions_total`:                       40,
	})
	expect(t, got, map[string]float64{`mrtq_legacy_children{node="/ingest"}`: 9, fmt.Sprintf("mrtq_legacy_children{node=%q}", "/"+hostileNode): 1})
	for name := range got {
		if strings.Contains(name, "evil") {
			t.Errorf("%s", name)
		}
	}
	lost := fullView()
	lost.Connected = false
	m.set(lost)
	if got := scrape(t, s.URL+metricsPath); len(got) != 1 {
		t.Errorf("stale numbers are served: %v", got)
	}
}

// The names follow the conventions, and a client can ask for the older format.
func TestMetricsText(t *testing.T) {
	m := &metrics{}
	m.set(fullView())
	s := handler(t, m)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+metricsPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/plain")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Errorf("%q %v", resp.Header, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil || len(families) < 3 {
		t.Errorf("%d families, %v", len(families), err)
	}
	problems, err := promlint.New(strings.NewReader(string(text))).Lint()
	if err != nil {
		t.Error(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Without a host, only this machine can read the metrics.
func TestMetricsAddress(t *testing.T) {
	for given, want := range map[string]string{
		":9464": "localhost:9464", "0.0.0.0:9464": "0.0.0.0:9464", "[::]:9464": "[::]:9464", "zk1:9464": "zk1:9464", "9464": "", "a:b:c": "",
	} {
		got, err := metricsAddress(given)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", given, got, err, want)
		}
	}
}
