package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Time limits of an ensemble. zoo.cfg wants them in ticks.
const (
	joinTime = 20 * time.Second // how long a server may take to connect to a leader and copy its data
	syncTime = 10 * time.Second // how far a server may lag behind the leader
)

func (o Options) properties() map[string]string {
	tick := o.TickTime.Milliseconds()
	p := map[string]string{
		"tickTime":               fmt.Sprint(tick),
		"initLimit":              fmt.Sprint(max(2, joinTime.Milliseconds()/tick)),
		"syncLimit":              fmt.Sprint(max(2, syncTime.Milliseconds()/tick)),
		"minSessionTimeout":      fmt.Sprint(o.MinSessionTimeout.Milliseconds()),
		"maxSessionTimeout":      fmt.Sprint(o.MaxSessionTimeout.Milliseconds()),
		"maxClientCnxns":         "0", // all of a test's sessions come from one address
		"admin.enableServer":     "false",
		"4lw.commands.whitelist": "*",
		// If the process is killed, the kernel keeps its data. Only a power
		// failure would lose it, and the data need not survive that.
		"forceSync": "no",
		// The transaction log grows by this many KiB. With the default of 64 MiB
		// the server would have to write that many zeros at each start.
		"preAllocSize": "1024",
	}
	maps.Copy(p, o.Properties)
	return p
}

// withTLS adds the properties of the TLS port. Only Netty can serve that port, and
// it then serves the plain port, too.
func withTLS(p map[string]string, port int, certificate string) {
	for k, v := range map[string]string{
		"secureClientPort":        fmt.Sprint(port),
		"serverCnxnFactory":       "org.apache.zookeeper.server.NettyServerCnxnFactory",
		"ssl.keyStore.location":   certificate,
		"ssl.keyStore.type":       "PEM",
		"ssl.trustStore.location": certificate,
		"ssl.trustStore.type":     "PEM",
		"ssl.clientAuth":          "need",
	} {
		if _, given := p[k]; !given {
			p[k] = v
		}
	}
}

// javaFlags returns the JVM's arguments that are the same on jvm and docker.
func (s *Server) javaFlags() []string {
	return []string{
		"-Xmx2048m", // enough for two million small znodes
		// These settings start a small JVM quickly: one compiler tier, the
		// shared class archive, a collector without threads, no statistics
		// file.
		"-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", "-XX:-UsePerfData",
		"-Dzookeeper.jmx.log4j.disable=true",
		"-Djava.net.preferIPv4Stack=true",
		"-Dzookeeper.DigestAuthenticationProvider.superDigest=" + s.superDigest(),
	}
}

func cfgText(p map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&b, "%s=%s\n", k, p[k])
	}
	return b.String()
}
