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

// suspend stops this process until the shell continues it.
func suspend() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }
