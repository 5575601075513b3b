package main

import (
	"fmt"
	"net"
	"os"
	"time"

	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/internal/jute"
)

// granted is the program "granted TIMEOUT…" of scripts, a COMMAND of mrtq zk. It opens a
// session with each timeout, and prints which timeout the server granted.
func granted() {
	for _, asked := range os.Args[1:] {
		got, err := grant(os.Getenv(settings.AddressVariable), asked)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %v\n", asked, got)
	}
}

func grant(address, asked string) (time.Duration, error) {
	timeout, err := time.ParseDuration(asked)
	if err != nil {
		return 0, err
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	hello := jute.AppendConnectRequest(make([]byte, jute.LenPrefix), jute.ConnectRequest{TimeoutMillis: int32(timeout.Milliseconds()), HasReadOnly: true})
	jute.SealFrame(hello)
	if _, err := c.Write(hello); err != nil {
		return 0, err
	}
	b, err := jute.ReadFrame(c, nil, jute.MaxBuffer)
	if err != nil {
		return 0, err
	}
	d := jute.NewDecoder(b)
	r := d.ConnectResponse()
	return time.Duration(r.TimeoutMillis) * time.Millisecond, d.Err()
}
