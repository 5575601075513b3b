package main

import "context"

// sayOtherSource says if a run took its records from another SOURCE than the one that
// was given. One queue can be given in several ways, so it is a hint and no refusal.
func (a *app) sayOtherSource(ctx context.Context, run, from string, given endpoint) {
	if from != "" && !given.isNamed(ctx, from) {
		a.say("%s took its records from %s, and SOURCE is %s: check that it is the same queue", run, from, given.text)
	}
}
