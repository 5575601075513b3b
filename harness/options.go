package harness

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"mrtq/harness/minizk"
)

// Options says how a server is started. The zero value is a standalone server
// with ZooKeeper's own limits and short session timeouts.
//
// With an address Start accepts only Client and StartTimeout. It refuses the
// other options, because only the server's owner can apply them.
type Options struct {
	// Nodes is the number of servers: 0 or 1 for a standalone server, or 3 for an
	// ensemble (jvm only).
	Nodes int
	// Listen is the host:port to serve at (embedded only). "" is a free port of
	// the loopback interface.
	Listen string
	// TickTime is the tick of the server's clock, by which sessions expire. 0
	// means 200 ms, so that tests of expiry are quick.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout limit the session timeouts that a client can get. 0 is two ticks, and
	// 40 s or MinSessionTimeout, if that is longer.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// Tree is what the server holds at first (embedded only), and belongs to it from then on.
	// Ephemeral znodes are left out, because their sessions have ended.
	Tree *minizk.Tree
	// TLS adds a port for TLS, see Server.SecureAddress. Its clients need a
	// certificate, see Server.TLSFiles.
	TLS bool
	// Properties are more lines for zoo.cfg (jvm and docker only). They override
	// the harness's settings, but not its ports and folders. Neither a name nor a value
	// may contain white space.
	Properties map[string]string
	// Client says how to open sessions at an address that needs TLS or
	// credentials. With credentials, only who has them can use the chroot that Start
	// creates there. Other backends ignore Client.
	Client Client
	// StartTimeout is how long a server may take to be ready, not counting the
	// time to pull an image. 0 means 60 s.
	StartTimeout time.Duration
}

func (o Options) withDefaults() Options {
	o.Nodes = cmp.Or(o.Nodes, 1)
	o.TickTime = cmp.Or(o.TickTime, 200*time.Millisecond)
	o.MinSessionTimeout = cmp.Or(o.MinSessionTimeout, 2*o.TickTime)
	o.MaxSessionTimeout = cmp.Or(o.MaxSessionTimeout, max(maxSessionTimeout, o.MinSessionTimeout))
	o.StartTimeout = cmp.Or(o.StartTimeout, time.Minute)
	return o
}

// validate is for options without defaults.
func (o Options) validate(b Backend) error {
	if _, err := ParseBackend(string(b)); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	for _, option := range []struct {
		name string
		set  bool
		on   []Backend // that have the option
	}{
		{"Nodes", o.Nodes > 1, []Backend{JVM}},
		{"Listen", o.Listen != "", []Backend{Embedded}},
		{"TickTime", o.TickTime != 0, Backends()},
		{"MinSessionTimeout", o.MinSessionTimeout != 0, Backends()},
		{"MaxSessionTimeout", o.MaxSessionTimeout != 0, Backends()},
		{"Tree", o.Tree != nil, []Backend{Embedded}},
		{"TLS", o.TLS, Backends()},
		{"Properties", len(o.Properties) > 0, []Backend{JVM, Docker}},
	} {
		switch {
		case !option.set || slices.Contains(option.on, b):
		case b.IsAddress():
			return fmt.Errorf("harness: Options.%s with the address %s: %w", option.name, b, ErrNotControlled)
		default:
			return fmt.Errorf("harness: Options.%s with backend %s: %w: use %s", option.name, b, errors.ErrUnsupported, names(option.on))
		}
	}
	return nil
}

// maxSessionTimeout is the longest session timeout that a client can usually get, as from a
// real server with its usual tick of 2 s: 20 ticks.
const maxSessionTimeout = 40 * time.Second
