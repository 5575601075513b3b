package watching

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/pflag"
)

func metricsFlag(f *pflag.FlagSet, p *string) {
	f.StringVar(p, "metrics", "", "serve metrics at `host:port`; without a host (:9464), to this machine only")
}

// metricsAddress is the address at which metrics are served. There is no password, so
// without a host, only this machine can read them.
func metricsAddress(given string) (string, error) {
	host, port, err := net.SplitHostPort(given)
	if err != nil {
		return "", usageError("--metrics %s: want host:port, or :port for this machine only", shellWord(given))
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", usageError("--metrics %s: want a port from 0 to 65535", shellWord(given))
	}
	if host == "" {
		host = "localhost"
	}
	return net.JoinHostPort(host, port), nil
}

// metricsPath is the path that Prometheus reads by default.
const metricsPath = "/metrics"

// serveMetrics serves a collector's metrics until stop is called. Without an
// address it does nothing.
func (a *app) serveMetrics(address string, c prometheus.Collector) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	at, err := metricsAddress(address)
	if err != nil {
		return nil, err
	}
	handler, err := metricsHandler(c)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w; give another address", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			a.say("metrics are no longer served: %v", err)
		}
	})
	a.say("metrics: http://%s%s", l.Addr(), metricsPath)
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		serving.Wait()
	}, nil
}

// metricsHandler serves OpenMetrics, or Prometheus's older format to a client that
// accepts only that.
func metricsHandler(c prometheus.Collector) (http.Handler, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(c); err != nil {
		return nil, err
	}
	negotiating := promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+metricsPath, func(w http.ResponseWriter, r *http.Request) {
		if accept := r.Header.Get("Accept"); accept == "" || strings.Contains(accept, "*/*") && !strings.Contains(accept, "openmetrics") && !strings.Contains(accept, "text/plain") {
			r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
		}
		negotiating.ServeHTTP(w, r)
	})
	return mux, nil
}

// metric describes a metric without constant labels.
func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("mrtq_"+name, help, labels, nil)
}

// The metrics of a run that both watch and migrate serve.
var (
	metricRecordsDone    = metric("run_records_done_total", "Records for which the newest run has created a job or an access request, or rewritten it.")
	metricRecordsPlanned = metric("run_records_planned", "Records for which the newest run will have created or rewritten a job or an access request when it is done.")
)

// runMetrics are the metrics of the migration that this process carries out.
type runMetrics struct {
	mu      sync.Mutex
	before  int // done by earlier plans
	done    int // done by this plan
	total   int
	notices int
}

var metricNotices = metric("run_notices_total", "Notices that the migration has printed, such as that another migrator is at work.")

// hook makes the metrics follow a migrator's notices and progress.
func (m *runMetrics) hook(say func(string)) (func(string), func(done, total int)) {
	return func(text string) {
			m.mu.Lock()
			m.notices++
			m.mu.Unlock()
			say(text)
		}, func(done, total int) {
			m.mu.Lock()
			if done < m.done { // a new plan, which has only the rest
				m.before += m.done
			}
			m.done, m.total = done, total
			m.mu.Unlock()
		}
}

// Describe implements [prometheus.Collector].
func (m *runMetrics) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{metricRecordsDone, metricRecordsPlanned, metricNotices} {
		descs <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *runMetrics) Collect(metrics chan<- prometheus.Metric) {
	m.mu.Lock()
	done, planned, said := m.before+m.done, m.before+m.total, m.notices
	m.mu.Unlock()
	metrics <- prometheus.MustNewConstMetric(metricRecordsDone, prometheus.CounterValue, float64(done))
	metrics <- prometheus.MustNewConstMetric(metricRecordsPlanned, prometheus.GaugeValue, float64(planned))
	metrics <- prometheus.MustNewConstMetric(metricNotices, prometheus.CounterValue, float64(said))
}
