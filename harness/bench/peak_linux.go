package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// watchPeak watches the memory of a process. Call ended when the process has ended: it
// returns the most memory that the process had, in bytes. watchPeak looks every
// hundredth of a second, so it may miss what came after its last look. The kernel's own
// figure for an ended process (ru_maxrss) is of no use, because it includes the memory
// of the process that started it.
func watchPeak(pid int) (ended func() int64) {
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, highWater(pid))
			case <-stop:
				peak <- most
				return
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-peak
	}
}

// highWater returns the largest resident set that a process has had, in bytes, or 0 if
// the process has ended.
func highWater(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	field, _, _ := bytes.Cut(rest, []byte("kB"))
	kb, err := strconv.ParseInt(string(bytes.TrimSpace(field)), 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}
