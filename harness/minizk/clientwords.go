package minizk

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"mrtq/internal/jute"
)

// The four-letter words about clients and their sessions, and about the configuration.

type lastOp struct {
	name string
	cxid int32 // of the last request that the client has numbered
	zxid int64
	at   time.Time
}

// opNames are the names of operations in the answer to cons.
var opNames = map[jute.OpCode]string{
	jute.OpCreate: "CREA", jute.OpCreate2: "CREA", jute.OpCreateContainer: "CREA", jute.OpCreateTTL: "CREA", jute.OpDelete: "DELE",
	jute.OpSetData: "SETD", jute.OpSetACL: "SETA", jute.OpMulti: "MULT", jute.OpMultiRead: "MLTR", jute.OpExists: "EXIS", jute.OpGetData: "GETD",
	jute.OpGetACL: "GETA", jute.OpGetChildren: "GETC", jute.OpGetChildren2: "GETC", jute.OpGetAllChildrenNumber: "GETACN", jute.OpGetEphemerals: "GETE",
	jute.OpSync: "SYNC", jute.OpAddWatch: "ADDW", jute.OpCheckWatches: "CHKW", jute.OpRemoveWatches: "REMW", jute.OpSetWatches: "SETW",
	jute.OpSetWatches2: "STW2", jute.OpWhoAmI: "HOMI", jute.OpPing: "PING",
}

// setLast remembers the request that was just done. The server authenticates clients elsewhere, so auth and sasl are no operations
// to it. The caller holds Server.mu.
func (c *conn) setLast(code jute.Code) {
	op := c.req.Op
	if op == jute.OpAuth || op == jute.OpSasl {
		return
	}
	c.last = lastOp{name: opNames[op], cxid: c.last.cxid, zxid: c.s.zxid, at: c.s.clock.now()}
	if c.req.xid >= 0 {
		c.last.cxid = c.req.xid
	}
	if c.last.name == "" || code != jute.OK && op.Changes() { // a refused change
		c.last.name = "NA"
	}
}

// connectionsText has a line for each connection. Its latencies are 0, because minizk does not measure them.
func (s *Server) connectionsText(brief bool) string {
	var lines []string
	for c := range s.open {
		line := fmt.Sprintf(" /%s[1](queued=0,recved=%d,sent=%d", c.nc.RemoteAddr(), c.received, c.received)
		if c.session != nil && !brief {
			line += fmt.Sprintf(",sid=%#x,lop=%s,est=%d,to=%d,lcxid=%#x,lzxid=%#x,lresp=%d,llat=0,minlat=0,avglat=0,maxlat=0",
				uint64(c.session.id), c.last.name, c.since.UnixMilli(), c.session.timeout.Milliseconds(), c.last.cxid, uint64(c.last.zxid), c.last.at.UnixMilli())
		}
		lines = append(lines, line+")\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

type ends struct {
	at   time.Time
	line string
}

func (s *Server) dumpText() string {
	var sessions, connections []ends
	for id, ss := range s.sessions.byID {
		sessions = append(sessions, ends{ss.deadline, fmt.Sprintf("\t%#x", uint64(id))})
	}
	for c := range s.open {
		at, id := c.since.Add(handshakePatience), int64(0)
		if c.session != nil {
			at, id = c.session.deadline, c.session.id
		}
		connections = append(connections, ends{at, fmt.Sprintf("\tip: /%s sessionId: %#x", c.nc.RemoteAddr(), uint64(id))})
	}
	owners := slices.Sorted(slices.Values(s.db.Owners()))
	var b strings.Builder
	fmt.Fprintf(&b, "SessionTracker dump:\nSession Sets %sephemeral nodes dump:\nSessions with Ephemerals (%d):\n", endsText(sessions), len(owners))
	for _, id := range owners {
		fmt.Fprintf(&b, "%#x:\n", uint64(id))
		for _, path := range s.db.EphemeralsOf(id) {
			fmt.Fprintf(&b, "\t%s\n", path)
		}
	}
	fmt.Fprintf(&b, "Connections dump:\nConnections Sets %s", endsText(connections))
	return b.String()
}

func endsText(all []ends) string {
	slices.SortFunc(all, func(a, b ends) int {
		return cmp.Or(a.at.Truncate(time.Second).Compare(b.at.Truncate(time.Second)), cmp.Compare(a.line, b.line))
	})
	var b strings.Builder
	sets := 0
	for rest := all; len(rest) > 0; sets++ {
		n := 1
		for n < len(rest) && rest[n].at.Unix() == rest[0].at.Unix() {
			n++
		}
		fmt.Fprintf(&b, "%d expire at %s:\n", n, rest[0].at.UTC().Format("Mon Jan 02 15:04:05 MST 2006"))
		for _, one := range rest[:n] {
			b.WriteString(one.line + "\n")
		}
		rest = rest[n:]
	}
	return fmt.Sprintf("(%d)/(%d):\n%s", sets, len(all), b.String())
}

// configurationText is that of a server without folders.
func (s *Server) configurationText() string {
	port := func(address string) string {
		_, port, _ := net.SplitHostPort(address)
		return cmp.Or(port, "-1") // there is no such port
	}
	return fmt.Sprintf("clientPort=%s\nsecureClientPort=%s\ndataDir=\ndataDirSize=0\ndataLogDir=\ndataLogSize=0\ntickTime=2000\nmaxClientCnxns=0\n"+
		"minSessionTimeout=%d\nmaxSessionTimeout=%d\nclientPortListenBacklog=-1\nserverId=0\n",
		port(s.addr), port(s.secure), s.opt.MinTimeout.Milliseconds(), s.opt.MaxTimeout.Milliseconds())
}
