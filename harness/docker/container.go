package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	tcnetwork "github.com/testcontainers/testcontainers-go/network"

	"mrtq/harness/internal/containers"
)

// Run creates and starts a container.
func (e *engine) Run(ctx context.Context, spec containers.Spec) (containers.Container, error) {
	options := []testcontainers.ContainerCustomizer{
		testcontainers.WithLogger(log.NewNoopLogger()),
		testcontainers.WithEnv(spec.Env),
		testcontainers.WithLabels(e.labels),
		testcontainers.WithHostConfigModifier(func(hc *container.HostConfig) { publish(hc, spec.Ports) }),
		testcontainers.WithFiles(files(spec.Files)...),
	}
	var exposed []string
	for _, p := range spec.Ports {
		exposed = append(exposed, port(p.Inside).String())
	}
	options = append(options, testcontainers.WithExposedPorts(exposed...))
	if n, ok := spec.Network.(*chosen); ok {
		options = append(options, tcnetwork.WithNetwork(nil, n.DockerNetwork), testcontainers.WithEndpointSettingsModifier(
			func(settings map[string]*network.EndpointSettings) {
				settings[n.Name()].IPAMConfig = &network.EndpointIPAMConfig{IPv4Address: spec.Address}
			}))
	}
	c, err := testcontainers.Run(ctx, e.image, options...)
	if c == nil {
		return nil, err // a nil interface, not an interface that holds nil
	}
	return &running{c}, err
}

// publish sets the host's ports, because otherwise Docker would choose others
// after a restart.
func publish(hc *container.HostConfig, ports []containers.Port) {
	hc.PortBindings = network.PortMap{}
	for _, p := range ports {
		hc.PortBindings[port(p.Inside)] = []network.PortBinding{{HostIP: p.IP, HostPort: strconv.Itoa(p.Host)}}
	}
}

func port(n int) network.Port { return network.MustParsePort(strconv.Itoa(n) + "/tcp") }

func files(all []containers.File) []testcontainers.ContainerFile {
	var out []testcontainers.ContainerFile
	for _, f := range all {
		out = append(out, testcontainers.ContainerFile{HostFilePath: f.Host, ContainerFilePath: f.Inside, FileMode: 0o644})
	}
	return out
}

// running is a container that Run created.
type running struct {
	c *testcontainers.DockerContainer
}

func (r *running) ID() string { return r.c.GetContainerID() }

func (r *running) Start(ctx context.Context) error { return r.c.Start(ctx) }

func (r *running) Stop(ctx context.Context, patience time.Duration) error {
	return r.c.Stop(ctx, &patience)
}

func (r *running) Kill(ctx context.Context) error {
	c, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.ContainerKill(ctx, r.ID(), client.ContainerKillOptions{Signal: "KILL"})
	if errdefs.IsConflict(err) { // it isn't running
		return nil
	}
	return err
}

func (r *running) State(ctx context.Context) (up bool, ended string, err error) {
	state, err := r.c.State(ctx)
	if err != nil {
		return false, "", err
	}
	return state.Running, strings.TrimSpace(fmt.Sprintf("exit status %d %s", state.ExitCode, state.Error)), nil
}

func (r *running) Logs(ctx context.Context, to io.Writer) error {
	logs, err := r.c.Logs(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, logs)
	return errors.Join(err, logs.Close())
}

func (r *running) Remove(ctx context.Context, patience time.Duration) error {
	return r.c.Terminate(ctx, testcontainers.StopTimeout(patience))
}

// chosen is a network in which the harness can choose the containers' addresses.
type chosen struct {
	*testcontainers.DockerNetwork
	subnet netip.Prefix
}

func (n *chosen) Name() string         { return n.DockerNetwork.Name }
func (n *chosen) Subnet() netip.Prefix { return n.subnet }
