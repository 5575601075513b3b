package zkconn_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

type request struct {
	name string
	op   jute.OpCode
	call func(context.Context, *zkconn.Writer) error
}

var reads = []request{
	{"Get", jute.OpGetData, func(ctx context.Context, w *zkconn.Writer) error { return second(w.Get(ctx, "/x")) }},
	{"GetAll", jute.OpMultiRead, func(ctx context.Context, w *zkconn.Writer) error {
		return second(w.GetAll(ctx, []string{"/x", "/"}))
	}},
	{"Children", jute.OpGetChildren, func(ctx context.Context, w *zkconn.Writer) error { return second(w.Children(ctx, "/")) }},
	{"ACL", jute.OpGetACL, func(ctx context.Context, w *zkconn.Writer) error { return second(w.ACL(ctx, "/x")) }},
	{"Exists", jute.OpExists, func(ctx context.Context, w *zkconn.Writer) error { _, _, err := w.Exists(ctx, "/x"); return err }},
	{"Sync", jute.OpSync, func(ctx context.Context, w *zkconn.Writer) error { return w.Sync(ctx) }},
}

var writes = []request{
	{"Multi", jute.OpMulti, func(ctx context.Context, w *zkconn.Writer) error {
		return w.Multi(ctx, []znode.Op{znode.Set("/x", nil, -1)})
	}},
	{"SetACL", jute.OpSetACL, func(ctx context.Context, w *zkconn.Writer) error { return w.SetACL(ctx, "/x", nil) }},
}

var looking = []request{
	{"CreateEphemeral", jute.OpCreate, func(ctx context.Context, w *zkconn.Writer) error {
		return second(w.CreateEphemeral(ctx, "/e-", nil, nil))
	}},
	{"MakeChroot", jute.OpCreate, func(ctx context.Context, w *zkconn.Writer) error { return second(w.MakeChroot(ctx)) }},
}

// unanswered opens a session whose pings are always answered. Its server's session lasts much longer than it tries.
func unanswered(t *testing.T) (*zkconn.Writer, *proxy) {
	cfg := zkconn.Config{GiveUpAfter: impatient, SessionTimeout: 20 * time.Second}
	w, p := setup(t, cfg)
	multi(t, w, znode.Create("/x", []byte("1")))
	if strings.HasSuffix(t.Name(), "/MakeChroot") { // one that is not there
		cfg.Address = w.Address()
		cfg.Address.Chroot += "/below"
		w = openWriter(t, cfg)
	}
	return w, p
}

// TestNoAnswerComes: a server that answers pings, but no request of a kind, ends the session after GiveUpAfter, also if
// other requests are answered meanwhile, with which the caller looks.
func TestNoAnswerComes(t *testing.T) {
	for _, r := range slices.Concat(reads, looking, writes) {
		t.Run(r.name, func(t *testing.T) {
			w, p := unanswered(t)
			p.decide(always(swallow, of(r.op)))
			within(t, 3*impatient, r.name, func() {
				err := r.call(t.Context(), w)
				for errors.Is(err, zkconn.ErrUnknownOutcome) {
					err = r.call(t.Context(), w)
				}
				if apart := r.op == jute.OpMultiRead; !apart && !errors.Is(err, zkconn.ErrSessionLost) || apart && err != nil { // it is asked for one by one
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// TestAnswersSayNothing: a server that answers each write with a code that leaves open whether it was done ends the session, too, so
// that nobody looks and writes for ever.
func TestAnswersSayNothing(t *testing.T) {
	server := minizk.Run(t)
	server.Inject(minizk.Fault{On: func(op minizk.Op) bool { return op.Code == jute.OpCreate }, Do: minizk.Refuse(jute.SystemError)})
	for _, r := range looking {
		t.Run(r.name, func(t *testing.T) {
			cfg := zkconn.Config{Address: zkconn.Address{Servers: []string{server.Addr()}, Chroot: "/"}, GiveUpAfter: impatient}
			if r.name == "MakeChroot" {
				cfg.Address.Chroot = "/below"
			}
			w := openWriter(t, cfg)
			within(t, 3*impatient, r.name, func() {
				if err := r.call(t.Context(), w); !errors.Is(err, zkconn.ErrSessionLost) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}
