package rules

import (
	"mrtq/legacy"
	"mrtq/newqueue"
)

// headerWidth is the status byte and the time before a record's payload
// (docs/legacy-format.md, "The header").
const headerWidth = 9

// accessObjects are the JSON objects of an access request. The token is the record's
// payload: verbatim if it is JSON.
func accessObjects(r Record, s State, d newqueue.Dialect) []Object {
	token := Object{Node: "token", Values: newqueue.Object(r.Legacy.Payload)}
	if r.Legacy.Format == legacy.JSON {
		token.text = r.Data[headerWidth:]
	}
	status := newqueue.AccessStatus{State: s.Access, LastModified: r.Legacy.Header.Time, Message: s.Message}
	return []Object{token, {Node: "status", Values: status.Object(d)}}
}
