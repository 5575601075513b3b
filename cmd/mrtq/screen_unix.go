//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyScreen asks for the signals that are about the terminal: it has another
// size, or the shell wants it back (Ctrl-Z).
func notifyScreen(events chan<- os.Signal) { signal.Notify(events, syscall.SIGWINCH, syscall.SIGTSTP) }

func suspends(s os.Signal) bool { return s == syscall.SIGTSTP }

// suspend stops this process until the shell continues it. The stop takes a
// moment, in which nothing may be drawn.
func suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if syscall.Kill(os.Getpid(), syscall.SIGSTOP) == nil {
		<-continued
	}
}
