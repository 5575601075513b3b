package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/harness/internal/node"
	"mrtq/harness/minizk"
	"mrtq/internal/sides"
	"mrtq/internal/ztree"
)

// launchEmbedded starts a server inside this process.
func launchEmbedded(ctx context.Context, s *Server) (*cluster, error) {
	opt := minizk.Options{
		Addr:        s.opt.Listen,
		RealTime:    true, // a client that has only an address can't advance the clock
		MinTimeout:  s.opt.MinSessionTimeout,
		SuperDigest: s.superDigest(),
	}
	if s.opt.TLS {
		conf, err := s.certs.server()
		if err != nil {
			return nil, err
		}
		opt.TLS = conf
	}
	tree := ztree.New()
	if s.opt.Load != "" {
		var err error
		if tree, err = load(ctx, s.opt.Load); err != nil {
			return nil, &LoadError{s.opt.Load, err}
		}
	}
	zk, err := minizk.StartWith(opt, tree)
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	c := &cluster{
		hosts: []string{zk.Addr()}, nodes: []node.Node{&embedded{zk}},
		remove: func(context.Context) error { return zk.Close() },
	}
	if s.opt.TLS {
		c.secureHosts = []string{zk.SecureAddr()}
	}
	return c, nil
}

// LoadError is what is wrong with [Options].Load.
type LoadError struct {
	What string
	Err  error
}

func (e *LoadError) Error() string { return fmt.Sprintf("harness: Options.Load %s: %v", e.What, e.Err) }

func (e *LoadError) Unwrap() error { return e.Err }

// load returns the tree of a dump, without ephemeral znodes.
func load(ctx context.Context, what string) (*ztree.Tree, error) {
	tree, err := sides.Load(ctx, sides.Place{Text: what, File: what}, sides.Options{})
	if err != nil {
		return nil, err
	}
	for _, session := range slices.Sorted(slices.Values(tree.Owners())) {
		tx := ztree.Tx{Zxid: tree.Zxid() + 1, Time: time.Now().UnixMilli()}
		tree.CloseSession(tx, session)
	}
	return tree, nil
}

// embedded is a server in this process.
type embedded struct{ zk *minizk.Server }

// Start serves again at the same ports, with the same tree.
func (e *embedded) Start(context.Context) error { return e.zk.Restart() }

// Stop closes the ports.
func (e *embedded) Stop(context.Context) error { return e.zk.Stop() }

// Kill does the same as Stop, because there is no process to kill, and no file
// that could be half written.
func (e *embedded) Kill() error { return e.zk.Stop() }

// Ended finds nothing: the server runs as long as this process.
func (e *embedded) Ended(context.Context) string { return "" }

// LastWords returns the server's log.
func (e *embedded) LastWords(context.Context) string {
	var b strings.Builder
	_ = e.zk.WriteLog(&b) // a Builder does not fail
	return b.String()
}
