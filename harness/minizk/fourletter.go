package minizk

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Version is what the server reports as its version. The number is the release that it behaves
// like.
const Version = "3.8.0-minizk, built on 2022-02-25 08:49 UTC"

// words are the four-letter words that the server answers. It refuses the others, as a real server
// refuses words that its configuration does not list.
var words = map[string]func(*Server) string{
	"ruok": func(*Server) string { return "imok" },
	"isro": func(*Server) string { return "rw" },
	"srvr": func(s *Server) string { return versionLine() + s.summaryText() },
	"stat": func(s *Server) string {
		return versionLine() + "Clients:\n" + s.connectionsText(true) + "\n" + s.summaryText()
	},
	"mntr": (*Server).monitorText,
	"cons": func(s *Server) string { return s.connectionsText(false) + "\n" },
	"dump": (*Server).dumpText,
	"conf": (*Server).configurationText,
	// kazoo sends this to learn the version. The rest of a real server's answer is about its Java.
	"envi": func(*Server) string { return "Environment:\nzookeeper.version=" + Version + "\n" },
}

var refusedWords = []string{"crst", "dirs", "gtmk", "hash", "srst", "stmk", "wchc", "wchp", "wchs"}

func isWord(w string) bool { return words[w] != nil || slices.Contains(refusedWords, w) }

// wordTimeout is how long the server tries to send an answer to a client that does not read.
const wordTimeout = 5 * time.Second

func (s *Server) answerWord(word string, nc net.Conn) {
	answer := word + " is not executed because it is not in the whitelist.\n"
	if f := words[word]; f != nil {
		s.mu.Lock()
		answer = f(s)
		s.mu.Unlock()
	}
	if nc.SetWriteDeadline(time.Now().Add(wordTimeout)) == nil {
		_, _ = nc.Write([]byte(answer)) // the connection ends next either way
	}
}

func versionLine() string { return "Zookeeper version: " + Version + "\n" }

func (s *Server) received() int64 {
	var n int64
	for _, v := range s.counts.ByOp {
		n += v
	}
	return n
}

// summaryText has no latencies, because minizk does not measure them.
func (s *Server) summaryText() string {
	n := s.received()
	return fmt.Sprintf("Latency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: 0\nZxid: %#x\nMode: standalone\nNode count: %d\n",
		n, n, len(s.open), s.zxid, s.db.Count())
}

func (s *Server) monitorText() string {
	n := s.received()
	var b strings.Builder
	for _, row := range []struct {
		key   string
		value any
	}{
		{"version", Version}, {"server_state", "standalone"}, {"uptime", time.Since(s.started).Milliseconds()},
		{"znode_count", s.db.Count()}, {"ephemerals_count", s.db.Ephemerals()},
		{"approximate_data_size", s.db.Bytes()}, {"watch_count", s.db.Watches()},
		{"num_alive_connections", len(s.open)}, {"global_sessions", len(s.sessions.byID)},
		{"outstanding_requests", 0}, {"packets_received", n}, {"packets_sent", n},
		{"min_latency", 0}, {"avg_latency", "0.0"}, {"max_latency", 0},
	} {
		fmt.Fprintf(&b, "zk_%s\t%v\n", row.key, row.value)
	}
	return b.String()
}
