package client_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// TestExplorer tries every public operation that writes with every fault. Each of its transactions loses the request, or
// the answer. The session is kept, or expires meanwhile. Before the client has connected again, a rival does nothing, or the
// same, or undoes it, or goes on from there; in dialect mrt-zk it may also be one of the tools. Or nothing is lost, and a rival does the same before one of its reads. All clocks show the same time, so equal operations write equal bytes. The
// server's log says who did what.
//
// The client must not say that it did what it did not do, nor that it wrote nothing although it did. It does nothing
// twice, leaves the rival's locks alone, and leaves none of its own of which it does not tell. If the session is kept, only an operation without
// a lock may be in doubt, and in dialect mrt-zk one after which others went on, or a tool did something.
func TestExplorer(t *testing.T) {
	var running sync.WaitGroup
	slots := make(chan struct{}, 32)
	count, mu := map[string]int{}, sync.Mutex{}
	for _, d := range newqueue.Dialects {
		f := explored(t, d)
		for _, o := range operations(f) {
			if o.only != "" && o.only != d {
				continue
			}
			k := explore(f, o, fault{})
			if k.writes == 0 || k.err != nil {
				t.Fatalf("%s/%s without a fault: %d transactions, %v", d, o.name, k.writes, k.err)
			}
			var faults []fault
			for nth := range k.writes {
				rivals := []string{"nobody", "same"}
				if o.undo != nil {
					rivals = append(rivals, "undo")
				}
				if o.on != nil {
					rivals = append(rivals, "on")
				}
				if o.item != nil && d == newqueue.MrtZK {
					rivals = append(rivals, tools...)
				}
				for _, rival := range rivals {
					for i := range 4 {
						faults = append(faults, fault{nth: nth + 1, after: i&1 > 0, expires: i&2 > 0, rival: rival})
					}
				}
			}
			for read := 2; read <= k.reads; read++ {
				faults = append(faults, fault{read: read, rival: "same"})
			}
			for _, c := range faults {
				slots <- struct{}{}
				running.Go(func() {
					defer func() { <-slots }()
					r := explore(f, o, c)
					for _, wrong := range o.judge(d, c, r, k.writes) {
						t.Errorf("%s/%s/of %d, %v: %s (%d transactions, %v)", d, o.name, k.writes, c, wrong, r.writes, r.err)
					}
					mu.Lock()
					defer mu.Unlock()
					count["all"]++
					count[outcome(r.err)]++
					if r.rivals {
						count["rival"]++
					}
				})
			}
		}
	}
	running.Wait()
	page := value(os.ReadFile("../../docs/promises.md"))(t)
	if says := fmt.Sprintf("%d combinations", count["all"]); !strings.Contains(string(page), says) {
		t.Errorf("docs/promises.md does not say: %s", says)
	}
	if count["done"]*3 < count["all"] || count["rival"]*2 < count["all"] {
		t.Errorf("%v proves little", count)
	}
}

// TestExplorerIsComplete: the explorer has every method, but for those that only read, and those that acquire, or move on, as others do.
func TestExplorerIsComplete(t *testing.T) {
	var names []string
	for _, d := range newqueue.Dialects {
		for _, o := range operations(&fixture{d: d}) {
			name, _, _ := strings.Cut(o.name, " ")
			_, method, found := strings.Cut(name, ".")
			if !found {
				method = name
			}
			names = append(names, method)
		}
	}
	names = append(names, "Batch", "Dialect", "IsLocked", "Job", "Locked", "Path", "Report", "AcquireJobs", "NextBatch", "NextJob", "NextRequest", "Work")
	for _, v := range []any{&client.Queue{}, &client.Batch{}, &client.Job{}, &client.Request{}} {
		for m := range reflect.TypeOf(v).Methods() {
			if !slices.Contains(names, m.Name) {
				t.Errorf("%T.%s is missing", v, m.Name)
			}
		}
	}
}

type fault struct {
	nth     int  // of the transactions; 0 is none
	read    int  // or nothing is lost, and the rival acts before a read
	after   bool // the answer is lost, not the request
	expires bool
	rival   string
}

func (c fault) String() string {
	if c.read > 0 {
		return fmt.Sprintf("%s before read %d", c.rival, c.read)
	}
	lost, session := "request lost", "session kept"
	if c.after {
		lost = "answer lost"
	}
	if c.expires {
		session = "session expired"
	}
	return fmt.Sprintf("transaction %d, %s, %s, %s", c.nth, lost, session, c.rival)
}

type operation struct {
	name string
	only newqueue.Dialect
	// ready returns the operation, once what it needs is acquired. It returns the ids of what it creates.
	ready    func(*party) (func() ([]string, error), error)
	undo, on func(*party)
	item     func(*party) string // the path of what a tool writes to
	locks    bool                // it creates an ephemeral lock
	worker   bool                // it needs one
	again    bool                // it succeeds without a write if it is already done
}

var errNothing = errors.New("the client says that it did nothing")

type result struct {
	ids    []string
	err    error
	writes int  // the client's transactions that were done
	reads  int  // its reads
	rivals bool // the rival did some, too
	wrong  []string
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, client.ErrUnknownOutcome):
		return "unknown"
	}
	return "not done"
}

// judge compares what the client says with what it did. all is how many transactions the whole operation has.
func (o operation) judge(d newqueue.Dialect, c fault, r result, all int) []string {
	tool := d == newqueue.MrtZK && (c.rival == "on" || slices.Contains(tools, c.rival))
	says := outcome(r.err)
	// Without a proof that it released the lock, a worker learns that it has none.
	lost := strings.HasSuffix(o.name, ".Unlock") && errors.Is(r.err, client.ErrNotLocked) && (c.expires || d == newqueue.MrtZK && c.rival != "nobody")
	most := all
	if o.locks && (c.expires || tool) {
		most++ // what was done in the old session is over, or is given back
	}
	for what, is := range map[string]bool{
		"done twice":                              r.writes > most,
		"says done":                               says == "done" && r.writes < all && !o.again,
		"says not done":                           says == "not done" && r.writes >= all && !o.locks && !lost,
		"a pass stops because a rival was first":  c.read > 0 && strings.HasPrefix(o.name, "Cleanup") && r.err != nil && r.err != errNothing,
		"does not say that it is not there":       c.read > 0 && strings.HasPrefix(o.name, "Delete") && r.err != nil && !errors.Is(r.err, client.ErrNotFound) && !errors.As(r.err, new(*client.StateError)),
		"does not know, but nothing was lost":     says == "unknown" && c.nth == 0,
		"does not know, and has held its lock":    says == "unknown" && (o.worker && !c.expires && !tool && !(d == newqueue.MrtZK && c.rival == "undo") || o.locks),
		"names its lock, which is over":           says == "unknown" && o.worker && !strings.Contains(o.name, "Unlock") && strings.Contains(r.err.Error(), "/lock ("),
		"gives up, although nobody is in its way": says != "done" && c.rival == "nobody" && (!c.after || o.locks || o.worker) && !(o.worker && c.expires),
	} {
		if is {
			r.wrong = append(r.wrong, what)
		}
	}
	return r.wrong
}

// party is one of the two clients.
type party struct {
	*fixture
	q      *client.Queue
	conn   *zk.Conn
	hook   *hooked
	server *minizk.Server
	kept   map[string]int64 // the locks that it has, by path: the czxid

	gate  sync.RWMutex  // held while it must not connect again
	dials chan struct{} // has an element if it wants to
}

func (f *fixture) join(server *minizk.Server) (*party, error) {
	p := &party{fixture: f, server: server, kept: map[string]int64{}, dials: make(chan struct{}, 10)}
	dial := zk.WithDialer(func(string, string, time.Duration) (net.Conn, error) {
		p.dials <- struct{}{}
		p.gate.RLock()
		defer p.gate.RUnlock()
		return server.Dial(ctx)
	})
	conn, events, err := zk.Connect([]string{"a:1"}, 30*time.Second, zk.WithLogger(silent{}), dial, zk.WithHostProvider(sameHost{}), zk.WithMaxBufferSize(1<<16))
	if err != nil {
		return nil, err
	}
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	<-p.dials
	p.conn, p.hook = conn, &hooked{Conn: conn}
	p.q = client.Open(p.hook, f.d, clock(), client.WithRecheck(20*time.Millisecond))
	return p, nil
}

// sameHost is an address that is not looked up, and that the client tries again without a pause.
type sameHost struct{}

func (sameHost) Init([]string) error  { return nil }
func (sameHost) Len() int             { return 1 }
func (sameHost) Next() (string, bool) { return "a:1", false }
func (sameHost) Connected()           {}

func explore(f *fixture, o operation, c fault) (r result) {
	fail := func(err error) result { return result{wrong: []string{fmt.Sprint("the test: ", err)}, err: err} }
	server, err := minizk.Start(minizk.Options{Private: true, Tree: f.tree.Clone()})
	if err != nil {
		return fail(err)
	}
	defer server.Close()
	a, err := f.join(server)
	if err != nil {
		return fail(err)
	}
	defer a.conn.Close()
	rival, err := f.join(server)
	if err != nil {
		return fail(err)
	}
	defer rival.conn.Close()
	do, err := o.ready(a)
	if err != nil {
		return fail(err)
	}
	sessions := map[int64]bool{a.conn.SessionID(): true}
	began := server.Log()
	mark := began[len(began)-1].N
	done := make(chan struct{})
	run := func() { defer close(done); r.ids, r.err = do() }
	if c.nth == 0 {
		var reads atomic.Int64
		a.hook.read = func(string) error {
			if reads.Add(1) == int64(c.read) {
				rival.act(o, c)
			}
			return nil
		}
		run()
		r.reads = int(reads.Load())
	} else {
		session, action := a.conn.SessionID(), minizk.CutBefore()
		if c.after {
			action = minizk.CutAfter()
		}
		lost := server.Inject(minizk.Fault{On: func(op minizk.Op) bool { return op.Session == session && op.Code == jute.OpMulti }, Nth: c.nth, Do: action})
		a.gate.Lock()
		go run()
		select {
		case <-a.dials:
		case <-done:
			a.gate.Unlock()
			return fail(errors.New("it ended without a fault"))
		}
		if c.expires {
			server.ExpireSession(session)
		}
		rival.act(o, c)
		a.gate.Unlock()
		<-done
		if lost.Fired() != 1 {
			return fail(fmt.Errorf("%d faults", lost.Fired()))
		}
	}
	sessions[a.conn.SessionID()] = true
	zxids := map[int64]bool{}
	for _, e := range server.Log() {
		switch {
		case e.N <= mark || e.Op != jute.OpMulti || e.Err != jute.OK:
		case sessions[e.Session]:
			r.writes++
			zxids[e.Zxid] = true
		default:
			r.rivals = true
		}
	}
	after := server.Snapshot()
	for _, id := range r.ids {
		n := after.Get(f.parent(id) + "/" + id)
		if n == nil && c.rival == "nobody" || n != nil && !zxids[n.Stat.Czxid] {
			r.wrong = append(r.wrong, id+" is not its own")
		}
	}
	if o.item != nil && !errors.Is(r.err, client.ErrUnknownOutcome) && (o.locks && r.err != nil || o.worker && r.err == nil && o.name != "Job.Save") {
		if n := after.Get(o.item(a) + "/lock"); n != nil && n.Stat.EphemeralOwner == a.conn.SessionID() {
			r.wrong = append(r.wrong, "a lock is left")
		}
	}
	for who, p := range map[string]*party{"its own": a, "the rival's": rival} {
		for path, czxid := range p.kept {
			if n := after.Get(path); n == nil || n.Stat.Czxid != czxid {
				r.wrong = append(r.wrong, fmt.Sprintf("%s lock %s is gone", who, path))
			}
		}
	}
	return r
}

// act is what the rival does. If the client's request was lost, it first does the same, so that there is something to
// undo, or to go on from. (Nobody undoes a worker's step: a deployed worker takes the item instead, and keeps it.) An error is not
// one of the test's: the client may have been first, or may hold the lock.
func (p *party) act(o operation, c fault) {
	if c.rival == "nobody" {
		return
	}
	if c.rival == "same" || !c.after && !(o.worker && c.rival == "undo") {
		if do, err := o.ready(p); err == nil {
			_, _ = do()
		}
	}
	switch c.rival {
	case "undo":
		o.undo(p)
	case "on":
		o.on(p)
	case "same":
	default:
		p.tool(o.item(p), c.rival)
	}
}

func (p *party) has(path string) {
	if _, stat, err := p.conn.Exists(path); err == nil {
		p.kept[path] = stat.Czxid
	}
}
