package minizk_test

import (
	"fmt"
	"sync"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

// TestConcurrentClients: all counters of a node are right after many clients have written at the
// same time.
func TestConcurrentClients(t *testing.T) {
	s := run(t, minizk.Options{})
	a := raw(t, s)
	want(t, "create", do(t, a, newNode("/q", "", 0)), jute.OK)
	const clients, each = 16, 200
	var wg sync.WaitGroup
	errs := make(chan error, clients)
	for range clients {
		wg.Go(func() {
			c, err := openRaw(s.Addr(), sessionTimeout)
			if err != nil {
				errs <- err
				return
			}
			defer c.Close()
			for range each {
				for _, r := range []jute.Request{newNode("/q/n-", "", 2), opSet("/q", "", -1)} {
					if p, _, err := c.Do(packet(r)); err != nil || p.Err != jute.OK {
						errs <- fmt.Errorf("%s: %v %v", r.Op, p.Err, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	q := nodeAt(t, s, "/q")
	if q.Stat.NumChildren != clients*each || q.Stat.Cversion != clients*each || q.Stat.Version != clients*each {
		t.Errorf("%+v", q.Stat)
	}
	if nodeAt(t, s, fmt.Sprintf("/q/n-%010d", clients*each-1)) == nil {
		t.Error("the last number is missing")
	}
}
