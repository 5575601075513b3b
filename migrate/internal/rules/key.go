package rules

import (
	"strings"

	"mrtq/legacy"
)

// Key is what the legacy services know a record's work by, whatever name its znode has: the batchID and jobID of an ingest record, the token of
// an access request. It is "" if the record has none.
type Key string

// KeyOf returns the key of a record.
func KeyOf(r Record) Key { return keyOf(r.Queue.IsAccess(), r.Legacy.Payload) }

// KeyOfJob returns the key of the record that a job or request was made from. data is that of its configuration or token.
func KeyOfJob(job string, data []byte) Key {
	p := decodeObject(data)
	if KindOf(job).IsAccess() {
		return keyOf(true, p)
	}
	return keyOf(false, recoverProperties(p))
}

func keyOf(access bool, p legacy.Payload) Key {
	batch, id := Text(p, "batchID"), Text(p, "jobID")
	if access {
		batch, id = "", Text(p, "token")
	}
	if id == "" {
		return ""
	}
	return Key(strings.Join([]string{batch, id}, "\x00"))
}
