// Package docker adds the docker backend to the harness. Import it in a program or
// a test that starts servers in containers:
//
//	import _ "mrtq/harness/docker"
//
// Without the import, [harness.Docker] is not available, and the program does
// not contain Docker's client.
package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"mrtq/harness"
	"mrtq/harness/internal/node"
)

const (
	pingTimeout   = 10 * time.Second // how long a Docker engine may take to answer
	stopTimeout   = 10 * time.Second // how long a server may take to shut down before it is killed
	engineTimeout = 30 * time.Second // for removing a container
)

const (
	engineRemedy = "install Docker (Debian's docker.io) and start dockerd, or set DOCKER_HOST to a running engine"
	imageRemedy  = "let the engine pull it, or set " + harness.ImageVariable + " to an image that the engine has; harness/image/make makes one from Debian packages"
)

func init() { node.Run = run }

// run pulls the image if it is missing, and creates and starts a container. The
// error is a *harness.UnavailableError if there is no engine or no image.
func run(ctx context.Context, spec node.Spec) (n node.Node, host string, remove func(context.Context) error, err error) {
	nothing := func(context.Context) error { return nil }
	if host, err = ready(ctx, spec.Image); err != nil {
		return nil, "", nothing, err
	}
	var exposed []string
	bindings := network.PortMap{} // Docker would choose other ports after a restart
	for inside, outside := range spec.Ports {
		port := network.MustParsePort(strconv.Itoa(inside) + "/tcp")
		exposed = append(exposed, port.String())
		bindings[port] = []network.PortBinding{{HostIP: publishAt(host), HostPort: strconv.Itoa(outside)}}
	}
	var files []testcontainers.ContainerFile
	for inside, here := range spec.Files {
		// All users can read the file, because we don't know which user the container runs as.
		files = append(files, testcontainers.ContainerFile{HostFilePath: here, ContainerFilePath: inside, FileMode: 0o644})
	}
	c, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image: spec.Image, Env: spec.Env, Labels: spec.Labels, Files: files, ExposedPorts: exposed,
			HostConfigModifier: func(hc *container.HostConfig) { hc.PortBindings = bindings },
		},
		Started: true,
		Logger:  log.NewNoopLogger(),
	})
	if err != nil {
		err = fmt.Errorf("harness: docker: start a container of %s: %w", spec.Image, err)
	}
	if c == nil {
		return nil, "", nothing, err
	}
	r := &running{c}
	return r, host, r.remove, err
}

// publishAt returns the address at which clients reach a container's ports. If the
// engine is local, only this machine can reach them. The zero address means all of the
// engine's interfaces.
func publishAt(host string) netip.Addr {
	if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && ip.IsLoopback() {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.Addr{}
}

// ready returns the host at which the engine publishes ports. The engine answers, and
// has the image.
func ready(ctx context.Context, image string) (host string, err error) {
	provider, err := newProvider()
	if err != nil {
		return "", missing(ctx, "no Docker engine answers", engineRemedy, err)
	}
	defer provider.Close()
	if err := ping(ctx, provider.Client()); err != nil {
		return "", err
	}
	if err := ensureImage(ctx, provider.Client(), image); err != nil {
		return "", missing(ctx, "no image "+image, imageRemedy, err)
	}
	return provider.DaemonHost(ctx)
}

// missing returns a *harness.UnavailableError. If the context ended, it returns the
// context's error, because a cancelled search does not show that anything is
// missing.
func missing(ctx context.Context, what, remedy string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("harness: look for Docker: %w", ctx.Err())
	}
	return &harness.UnavailableError{Backend: harness.Docker, Missing: fmt.Sprintf("%s (%v)", what, err), Remedy: remedy}
}

// silence stops the library from printing a description of the engine among a
// command's own messages. The library has only a global setting for that.
var silence = sync.OnceFunc(func() { log.SetDefault(log.NewNoopLogger()) })

// newProvider returns an error on a machine without Docker, although the library
// panics there.
func newProvider() (p *testcontainers.DockerProvider, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	silence()
	return testcontainers.NewDockerProvider(testcontainers.WithLogger(log.NewNoopLogger()))
}

func ping(ctx context.Context, c client.APIClient) error {
	limited, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if _, err := c.Ping(limited, client.PingOptions{}); err != nil {
		return missing(ctx, "no Docker engine answers", engineRemedy, err)
	}
	return nil
}

// ensureImage pulls the image unless the engine has it. The library would do that,
// too, but without a registry it tries for a quarter of an hour.
func ensureImage(ctx context.Context, c client.APIClient, image string) error {
	if _, err := c.ImageInspect(ctx, image); err == nil {
		return nil
	}
	pull, err := c.ImagePull(ctx, image, client.ImagePullOptions{})
	if err != nil {
		return err
	}
	return errors.Join(pull.Wait(ctx), pull.Close())
}

type running struct{ testcontainers.Container }

func (r *running) Start(ctx context.Context) error {
	return failed("restart a container", r.Container.Start(ctx))
}

func (r *running) Stop(ctx context.Context) error { return r.end(ctx, stopTimeout) }

func (r *running) Kill() error { return r.end(context.Background(), 0) }

func (r *running) end(ctx context.Context, patience time.Duration) error {
	return failed("stop a container", r.Container.Stop(ctx, &patience))
}

// Ended returns what the engine says. If that doesn't answer, the container counts as running.
func (r *running) Ended(ctx context.Context) string {
	state, err := r.State(ctx)
	if err != nil || state.Running {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("exit status %d %s", state.ExitCode, state.Error))
}

func (r *running) LastWords(ctx context.Context) string {
	logs, err := r.Logs(ctx)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	defer logs.Close()
	words := &node.Tail{}
	_, _ = io.Copy(words, logs) // what could be read
	return words.String()
}

// remove ends the container and removes it with its data, even if ctx is cancelled.
func (r *running) remove(ctx context.Context) error {
	patience := stopTimeout
	if ctx.Err() != nil {
		patience = 0
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineTimeout)
	defer cancel()
	return failed("remove container "+r.GetContainerID(), r.Terminate(ctx, testcontainers.StopTimeout(patience)))
}

func failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("harness: docker: %s: %w", doing, err)
}
