package main

import "fmt"

// otherSource says that a run took its records from another SOURCE than the one that
// was given, "" if it didn't. One queue can be given in several ways, so it is a hint
// and no refusal.
func otherSource(run, from, given string) string {
	if from == "" || from == given {
		return ""
	}
	return fmt.Sprintf("%s took its records from %s, and SOURCE is %s: check that it is the same queue", run, from, given)
}

// sayOtherSource says it before anything is written.
func (a *app) sayOtherSource(run, from, given string) {
	if text := otherSource(run, from, given); text != "" {
		a.say("%s", text)
	}
}
