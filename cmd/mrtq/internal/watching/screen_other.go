//go:build !unix

package watching

import "os"

// notifyScreen does nothing on systems without such signals. The size is read each
// time that the screen is drawn.
func notifyScreen(chan<- os.Signal) {}

func suspends(os.Signal) bool { return false }

func suspend() {}
