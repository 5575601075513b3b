package main

// sayOtherSource says so if a run took its records from another SOURCE. One queue can be
// named in several ways, so this is a hint, and not an error.
func (a *app) sayOtherSource(run, from, given string) {
	if from != "" && from != given {
		a.say("%s took its records from %s, and SOURCE is %s: check that it is the same queue", run, from, given)
	}
}
