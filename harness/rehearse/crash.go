package rehearse

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"mrtq/internal/jute"
	"mrtq/internal/zkconn"
	"mrtq/migrate"
)

// cut is one fault of a migration: its connection is lost just before or just after the server
// does a transaction, or its process is killed there.
type cut struct {
	at          int // how many transactions were done before
	after, kill bool
}

// evenly chooses n of a migration's transactions, or all, and what happens there: the four
// kinds of cuts in turn.
func evenly(transactions, n int) []cut {
	if n == AllCuts || n > transactions {
		n = transactions
	}
	cuts := make([]cut, n)
	for i := range cuts {
		cuts[i] = cut{at: (2*i + 1) * transactions / (2 * n), after: i%2 == 1, kill: i%4 > 1}
	}
	return cuts
}

// cut rehearses the crashes, on a third copy: the same migration, which is cut and called again
// until it is done.
func (r *rehearsal) cut(ctx context.Context) error {
	if r.opt.Cuts == 0 || len(r.report.Differences) > 0 {
		return nil
	}
	p, err := r.perform(ctx, "/third")
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.makePlan(ctx); err != nil {
		return err
	}
	c := &cutter{stage: r.stage, left: evenly(r.transactions, r.opt.Cuts)}
	r.report.Cuts = &Cuts{Transactions: r.transactions}
	show, finish := r.opt.Meter.Progress("cutting the migration", "cuts")
	defer finish()
	all := len(c.left)
	err = r.step(ctx, "migrate, cut again and again", func(ctx context.Context) error {
		for {
			err := p.migrateThrough(ctx, c)
			r.report.Cuts.Cut = c.struck
			show(c.struck, all)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err == nil:
				r.report.Cuts.Survived = c.struck
				return p.verify(ctx)
			case !c.revive():
				r.report.Cuts.Survived = c.struck - 1
				r.differ(Difference{Interrupted, p.folder + newFolder, fmt.Sprintf("after cut %d of %d, the same command fails: %v", c.struck, all, err)})
				return nil
			}
		}
	})
	return err
}

// The sessions that are cut end soon, because the next process waits for that.
const (
	cutSession = time.Second
	cutGiveUp  = cutSession
)

// migrateThrough is one process that migrates, over connections that the cutter makes.
func (p *performance) migrateThrough(ctx context.Context, c *cutter) error {
	cfg := p.stage.config(p.folder+newFolder, c.dial)
	cfg.TLS, cfg.SessionTimeout, cfg.GiveUp = nil, cutSession, cutGiveUp
	w, err := zkconn.OpenWriter(ctx, cfg)
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = migrate.Migrate(ctx, p.src, w, p.migrateOptions())
	return err
}

// cutter makes connections, and cuts them at transactions.
type cutter struct {
	stage  *stage
	mu     sync.Mutex
	left   []cut
	done   int // transactions that the server has got
	struck int
	dead   bool // the process was killed
}

var errCut = errors.New("the rehearsal cut the connection")

// revive starts a process again that was killed. It returns false if none was.
func (c *cutter) revive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.dead
	c.dead = false
	return was
}

func (c *cutter) dial(ctx context.Context) (net.Conn, error) {
	c.mu.Lock()
	dead, turn := c.dead, c.struck
	c.mu.Unlock()
	if dead {
		return nil, errCut
	}
	nc, err := c.stage.connect(ctx, turn)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: nc, c: c}, nil
}

// strike says what to do before a transaction is sent: nothing, or a cut.
func (c *cutter) strike() (now cut, strikes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.left) == 0 || c.done < c.left[0].at {
		c.done++
		return cut{}, false
	}
	now, c.left = c.left[0], c.left[1:]
	c.struck++
	c.dead = now.kill
	if now.after {
		c.done++
	}
	return now, true
}

// cutConn is one connection. It reads what is sent, packet by packet.
type cutConn struct {
	net.Conn
	c      *cutter
	packet []byte      // the beginning of one that is not whole
	opened bool        // its first packet opens a session, and has no header
	drop   atomic.Bool // the next answer is lost, and the connection with it
}

// Write sends packets, unless the connection is cut there.
func (c *cutConn) Write(b []byte) (int, error) {
	c.packet = append(c.packet, b...)
	for len(c.packet) >= 4 {
		end := 4 + int(binary.BigEndian.Uint32(c.packet))
		if len(c.packet) < end {
			break
		}
		transaction := c.opened && end >= 12 && jute.OpCode(int32(binary.BigEndian.Uint32(c.packet[8:]))) == jute.OpMulti
		c.opened, c.packet = true, c.packet[end:]
		if !transaction {
			continue
		}
		now, strikes := c.c.strike()
		switch {
		case strikes && !now.after:
			c.Conn.Close()
			return 0, errCut
		case strikes:
			c.drop.Store(true)
		}
	}
	return c.Conn.Write(b)
}

// Read reads, unless an answer is to be lost.
func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.drop.Load() {
		c.Conn.Close()
		return 0, errCut
	}
	return n, err
}
