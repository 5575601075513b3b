package rules

import (
	"strings"

	"mrtq/legacy"
	"mrtq/migrate/migration"
)

// Key is what the legacy services know a record's work by, whatever name its znode has: the batchID and jobID of an ingest record, the token of
// an access request, the manifestURL of an inventory record. It is "" if the record has none.
type Key string

// KeyOf returns the key of a record.
func KeyOf(r migration.Record) Key { return keyOf(r.Queue, r.Legacy.Payload) }

// KeyOfKept returns the key of a record that was handed over. data are its bytes, and name is that of its job; that of a request begins with its queue.
func KeyOfKept(name string, data []byte) Key {
	kind := migration.Ingest
	for _, access := range []migration.QueueKind{migration.AccessSmall, migration.AccessLarge} {
		if strings.HasPrefix(name, string(access.AccessQueue())+"-") {
			kind = access
		}
	}
	if len(data) < headerWidth {
		return ""
	}
	_, p, err := legacy.DecodePayload(data[headerWidth:])
	if err != nil {
		return ""
	}
	return keyOf(kind, p)
}

func keyOf(kind migration.QueueKind, p legacy.Payload) Key {
	batch, id := Text(p, "batchID"), Text(p, "jobID")
	switch {
	case kind.IsAccess():
		batch, id = "", Text(p, "token")
	case kind == migration.Inventory: // two of one manifest may be two works
		batch, id = "", Text(p, "manifestURL")
	}
	if id == "" {
		return ""
	}
	return Key(strings.Join([]string{string(kind), batch, id}, "\x00"))
}
