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

// newNetwork makes a network in which containers may have addresses of our
// choice.
//
// They need them: ZooKeeper looks its peers' names up once, as it starts, and a
// server that started before its peer has a name would never be able to
// follow it; nor has a killed container a name. Docker, in turn, gives chosen
// addresses only in a subnet that was chosen, too. So it is first asked for a
// network with a subnet that is free, and then for the same again.
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
		if !strings.Contains(err.Error(), "overlaps") { // taken by somebody in between
			break
		}
	}
	return nil, netip.Prefix{}, dockerError("make a network", err)
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
