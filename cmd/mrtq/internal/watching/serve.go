package watching

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
)

// metricsAddress is the address at which metrics are served. There is no password, so
// without a host, only this machine can read them.
func metricsAddress(given string) (string, error) {
	host, port, err := net.SplitHostPort(given)
	if err != nil {
		return "", exit.Usagef("--metrics %s: expected host:port, or :port for this machine only", advice.Word(given))
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", exit.Usagef("--metrics %s: expected a port, 0–65535", advice.Word(given))
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
func serveMetrics(address string, c prometheus.Collector, say func(format string, args ...any)) (stop func(), err error) {
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
			say("metrics are no longer served: %v", err)
		}
	})
	say("metrics: http://%s%s", l.Addr(), metricsPath)
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		serving.Wait()
	}, nil
}

// metricsHandler serves OpenMetrics to a client that accepts it, or else Prometheus's older format.
func metricsHandler(c prometheus.Collector) (http.Handler, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(c); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+metricsPath, promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	return mux, nil
}

// metric describes a metric without constant labels.
func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("mrtq_"+name, help, labels, nil)
}
