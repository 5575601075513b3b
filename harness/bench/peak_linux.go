package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// watchPeak tells the most memory that a process has, in bytes, once it has ended:
// what the last look found, a hundredth of a second before at most. The kernel's
// own account of an ended process (ru_maxrss) is of no use, for it begins with the
// memory of the process that started it.
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

// highWater is the largest resident set that a process has had, 0 if it is gone.
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
