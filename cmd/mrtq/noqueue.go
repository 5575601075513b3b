package main

import (
	"fmt"
	"strings"

	"mrtq/migrate"
)

// noQueueAt says that no new queue is at a place, and what is there instead.
func noQueueAt(place endpoint, found *migrate.NoQueue) string {
	text := "there is no new queue at " + place.text + ": "
	switch {
	case found.Missing && place.addr.Chroot != "":
		text += place.addr.Chroot + " is not there"
	case len(found.Znodes) == 0:
		text += "nothing is there"
	default:
		text += "it holds " + someOf(found.Znodes)
	}
	if len(found.Legacy) > 0 {
		text += fmt.Sprintf("; legacy records are in %s, so it may be the SOURCE", someOf(found.Legacy))
	}
	if len(found.Queues) > 0 {
		text += fmt.Sprintf("; a new queue is below it, in %s", someOf(found.Queues))
	}
	return text
}

// placeOf is the endpoint of a TARGET.
func placeOf(target string) endpoint {
	place, err := parseEndpoint("TARGET", target)
	if err != nil {
		return endpoint{text: target}
	}
	return place
}

// checkPlace says what to do if there is no queue at an address.
const checkPlace = "Check the address and its chroot"

// someOf lists the first names, and counts the others.
func someOf(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}
