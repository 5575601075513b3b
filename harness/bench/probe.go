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
	create := jute.CreateRequest{Path: probePath, Data: data, ACL: []jute.ACL{{Perms: 31, ID: jute.ID{Scheme: "world", Name: "anyone"}}}, Flags: ephemeral}
	if _, err := answered(c, jute.OpCreate, jute.AppendCreateRequest(nil, jute.OpCreate, create)); err != nil {
		return sample{}, err
	}
	requests := []struct {
		op   jute.OpCode
		body []byte
	}{
		{jute.OpGetData, jute.AppendPathWatch(nil, jute.PathWatch{Path: probePath})},
		{jute.OpSetData, jute.AppendSetDataRequest(nil, jute.SetDataRequest{Path: probePath, Data: data, Version: -1})},
	}
	var waits []time.Duration
	for {
		select {
		case <-stop:
			_, _, err := c.Do(jute.OpCloseSession, nil)
			return waited(waits), err
		case <-time.After(probePause):
		}
		r := requests[len(waits)%len(requests)]
		asked := time.Now()
		if _, err := answered(c, r.op, r.body); err != nil {
			return sample{}, err
		}
		waits = append(waits, time.Since(asked))
	}
}

func answered(c *rawzk.Conn, op jute.OpCode, body []byte) (rawzk.Packet, error) {
	p, _, err := c.Do(op, body)
	if err == nil && p.Err != jute.OK {
		err = fmt.Errorf("%s: %w", probePath, p.Err)
	}
	return p, err
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
