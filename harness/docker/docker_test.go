package docker

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"mrtq/harness"
)

// This test uses a client for an engine that does not exist, because testcontainers
// finds the usual socket even if DOCKER_HOST names another.
func TestNoDockerEngine(t *testing.T) {
	c, err := client.New(client.WithHost("unix:///nonexistent/docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = ping(t.Context(), c)
	const want = "harness: backend docker is not available: no Docker engine answers ("
	if !errors.Is(err, harness.ErrUnavailable) || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "); "+engineRemedy) {
		t.Errorf("got  %v\nwant %s…", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ping(ctx, c); !errors.Is(err, context.Canceled) || errors.Is(err, harness.ErrUnavailable) {
		t.Errorf("cancelled: %v", err)
	}
}

// If an image does not exist and can't be pulled, Start fails at once.
func TestNoImage(t *testing.T) {
	if _, err := ready(t.Context(), "zookeeper:3.8.4"); errors.Is(err, harness.ErrUnavailable) && !harness.Required("docker") {
		t.Skip(err)
	}
	t.Setenv(harness.ImageVariable, "127.0.0.1:1/no-such-image:none")
	_, err := harness.Start(t.Context(), harness.Docker, harness.Options{})
	want := "harness: backend docker is not available: no image 127.0.0.1:1/no-such-image:none ("
	if !errors.Is(err, harness.ErrUnavailable) || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), imageRemedy) {
		t.Errorf("got  %v\nwant %s…", err, want)
	}
}
