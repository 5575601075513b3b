package docker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tcnetwork "github.com/testcontainers/testcontainers-go/network"

	"mrtq/harness/internal/containers"
)

// networkAttempts is how often the harness asks for a free subnet, if another
// process takes each of them before it can.
const networkAttempts = 5

// removeTimeout is the limit for removing the network that showed a free subnet.
// The removal continues even if the caller's context is cancelled.
const removeTimeout = 30 * time.Second

// Network creates a network in which the harness can choose the containers'
// addresses.
//
// It must choose them because ZooKeeper looks up the names of its peers only once,
// when it starts. Docker gives a container its name only when it starts, and takes
// the name away when it is killed. So a server that starts before its peer could
// never reach it by name.
//
// Docker lets us choose addresses only in a subnet that we have chosen. So the
// harness first asks Docker for any network, which shows a free subnet, and then
// for a network with that subnet.
func (e *engine) Network(ctx context.Context) (containers.Network, error) {
	var err error
	for range networkAttempts {
		var subnet netip.Prefix
		if subnet, err = e.freeSubnet(ctx); err != nil {
			break
		}
		var n *testcontainers.DockerNetwork
		n, err = tcnetwork.New(ctx, tcnetwork.WithLabels(e.labels),
			tcnetwork.WithIPAM(&network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet}}}))
		if err == nil {
			return &chosen{n, subnet}, nil
		}
		if !strings.Contains(err.Error(), "overlaps") { // another program took it meanwhile
			break
		}
	}
	return nil, err
}

// freeSubnet returns an IPv4 subnet that Docker would give a network now.
func (e *engine) freeSubnet(ctx context.Context) (_ netip.Prefix, err error) {
	n, err := tcnetwork.New(ctx, tcnetwork.WithLabels(e.labels))
	if err != nil {
		return netip.Prefix{}, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
		defer cancel()
		err = errors.Join(err, n.Remove(ctx))
	}()
	c, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return netip.Prefix{}, err
	}
	defer c.Close()
	found, err := c.NetworkInspect(ctx, n.ID, client.NetworkInspectOptions{})
	if err != nil {
		return netip.Prefix{}, err
	}
	for _, conf := range found.Network.IPAM.Config {
		if conf.Subnet.Addr().Is4() {
			return conf.Subnet, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("network %s has no IPv4 subnet", n.Name)
}
