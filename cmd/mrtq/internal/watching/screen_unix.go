//go:build unix

package watching

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyScreen asks for the signals about the terminal: its size has changed, or
// Ctrl-Z was pressed.
func notifyScreen(events chan<- os.Signal) { signal.Notify(events, syscall.SIGWINCH, syscall.SIGTSTP) }

func suspends(s os.Signal) bool { return s == syscall.SIGTSTP }

// suspend stops this process until the shell continues it. It waits for the stop, so
// that nothing is drawn before it.
func suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if syscall.Kill(os.Getpid(), syscall.SIGSTOP) == nil {
		<-continued
	}
}
