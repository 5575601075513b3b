package main

import (
	"fmt"
	"slices"
	"time"

	"mrtq/harness/internal/rawzk"
	"mrtq/internal/jute"
)

const (
	probePath = "/probe"
	ephemeral = 1
	// probePause is how long the probe pauses after an answer: short enough to have
	// enough samples of a short migration, and long enough to be no load.
	probePause = 4 * time.Millisecond
	// leastProbe is the shortest time for which an idle server is probed.
	leastProbe = 200 * time.Millisecond
)

// probe measures how long another client of the server waits for an answer. Until stop
// is closed, it reads and writes a small znode of its own in turn, one request after the
// other. 99 of 100 waits were no longer than the sample's Seconds, and half of them no
// longer than its Half.
func probe(address string, stop <-chan struct{}) (sample, error) {
	c, err := rawzk.Open(address, sessionTimeout)
	if err != nil {
		return sample{}, err
	}
	defer c.Close()
	data := make([]byte, 100)
	open := []jute.ACL{{Perms: 31, ID: jute.ID{Scheme: "world", Name: "anyone"}}}
	if err := answered(c, jute.Request{Op: jute.OpCreate, Path: probePath, Data: data, ACL: open, Flags: ephemeral}); err != nil {
		return sample{}, err
	}
	requests := []jute.Request{{Op: jute.OpGetData, Path: probePath}, {Op: jute.OpSetData, Path: probePath, Data: data, Version: -1}}
	var waits []time.Duration
	for {
		select {
		case <-stop:
			_, _, err := c.Do(jute.OpCloseSession, nil)
			return waited(waits), err
		case <-time.After(probePause):
		}
		asked := time.Now()
		if err := answered(c, requests[len(waits)%len(requests)]); err != nil {
			return sample{}, err
		}
		waits = append(waits, time.Since(asked))
	}
}

func answered(c *rawzk.Conn, r jute.Request) error {
	p, _, err := c.Do(r.Op, jute.AppendRequest(nil, &r))
	if err == nil && p.Err != jute.OK {
		err = fmt.Errorf("%s: %w", probePath, p.Err)
	}
	return err
}

// waited returns the sample for a probe's waits.
func waited(waits []time.Duration) sample {
	slices.Sort(waits)
	if len(waits) == 0 {
		return sample{}
	}
	at := func(hundredths int) float64 { return waits[(len(waits)-1)*hundredths/100].Seconds() }
	return sample{Seconds: at(99), Half: at(50)}
}

// probeQuiet probes a server that has nothing else to do.
func probeQuiet(address string, long time.Duration) (sample, error) {
	stop := make(chan struct{})
	time.AfterFunc(long, func() { close(stop) })
	return probe(address, stop)
}

// probeDuring probes a server while do runs.
func probeDuring(address string, do func() error) (sample, error) {
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- do()
		close(stop)
	}()
	s, err := probe(address, stop)
	if derr := <-done; derr != nil {
		return s, derr
	}
	return s, err
}
