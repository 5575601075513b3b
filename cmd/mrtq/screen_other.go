//go:build !unix

package main

import "os"

// notifyScreen asks for nothing where there are no such signals: the size is
// looked at each time that the screen is drawn.
func notifyScreen(chan<- os.Signal) {}

func suspends(os.Signal) bool { return false }

func suspend() {}
