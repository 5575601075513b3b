package harness

import (
	"context"
	"fmt"
	"strings"

	"mrtq/harness/internal/node"
	"mrtq/harness/minizk"
)

func (s *Server) launchEmbedded(context.Context) error {
	opt := minizk.Options{
		Addr:        s.opt.Listen,
		RealTime:    true, // a client that has only an address can't advance the clock
		MinTimeout:  s.opt.MinSessionTimeout,
		MaxTimeout:  s.opt.MaxSessionTimeout,
		SuperDigest: s.superDigest(),
		Tree:        s.opt.Tree,
	}
	if s.opt.TLS {
		conf, err := serverTLS(s.certificate)
		if err != nil {
			return err
		}
		opt.TLS = conf
	}
	if s.opt.Tree != nil {
		for n := range s.opt.Tree.All("/") {
			if n.Stat.EphemeralOwner != 0 { // its session has ended
				s.opt.Tree.Remove(n)
			}
		}
	}
	zk, err := minizk.Start(opt)
	if err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	s.hosts, s.nodes = []string{zk.Addr()}, []node.Node{&embedded{zk}}
	s.remove = func(context.Context) error { return zk.Close() }
	if s.opt.TLS {
		s.secureHosts = []string{zk.SecureAddr()}
	}
	return nil
}

type embedded struct{ zk *minizk.Server }

func (e *embedded) Start(context.Context) error { return e.zk.Restart() }

func (e *embedded) Stop(context.Context) error { return e.zk.Stop() }

// Kill does the same as Stop, because there is no process to kill, and no file
// that could be half written.
func (e *embedded) Kill() error { return e.zk.Stop() }

// Ended finds nothing: the server runs as long as this process.
func (e *embedded) Ended(context.Context) string { return "" }

func (e *embedded) LastWords(context.Context) string {
	var b strings.Builder
	_ = e.zk.WriteLog(&b) // a Builder does not fail
	return b.String()
}
