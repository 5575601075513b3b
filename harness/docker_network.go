package harness

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tcnetwork "github.com/testcontainers/testcontainers-go/network"
)

// newNetwork creates a network in which the harness can choose the containers'
// addresses.
//
// It must choose them because ZooKeeper looks up the names of its peers once,
// when it starts. A server that starts before its peer has a name could never
// follow it, and a killed container has no name. Docker allows chosen addresses
// only in a chosen subnet. So the harness first asks Docker for a network,
// which shows a free subnet, and then for a network with that subnet.
func newNetwork(ctx context.Context) (*testcontainers.DockerNetwork, netip.Prefix, error) {
	var err error
	for range startAttempts {
		var subnet netip.Prefix
		if subnet, err = freeSubnet(ctx); err != nil {
			break
		}
		var n *testcontainers.DockerNetwork
		n, err = tcnetwork.New(ctx, tcnetwork.WithLabels(labels()),
			tcnetwork.WithIPAM(&network.IPAM{Config: []network.IPAMConfig{{Subnet: subnet}}}))
		if err == nil {
			return n, subnet, nil
		}
		if !strings.Contains(err.Error(), "overlaps") { // another program took it meanwhile
			break
		}
	}
	return nil, netip.Prefix{}, dockerError("create a network", err)
}

// freeSubnet returns an IPv4 subnet that Docker would give a network now.
func freeSubnet(ctx context.Context) (_ netip.Prefix, err error) {
	n, err := tcnetwork.New(ctx, tcnetwork.WithLabels(labels()))
	if err != nil {
		return netip.Prefix{}, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dockerRemoveTimeout)
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
