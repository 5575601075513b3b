package rules

import (
	"strings"

	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// field is one row of the mapping: a key of the new znode, and the legacy property that it
// comes from.
type field struct{ key, property string }

// configurationFields are the properties that a configuration holds under another name
// (docs/migration.md, "From a record to znodes"), and who reads the key. Every other
// property keeps its name. In dialect mrt-zk these are there under both names, because the
// deployed services read the legacy ones.
var configurationFields = []field{
	{"profile_name", "profile"},       // the library's profileName; a trace line of inventory
	{"submitter", "submitter"},        // mail, mrt-ingest.txt; the library's submitter; a trace line of inventory
	{"payload_url", "filename"},       // the library's payloadUrl; a trace line of inventory
	{"payload_type", "type"},          // the library's payloadType; a trace line of inventory
	{"response_type", "responseForm"}, // the library's responseType; a trace line of inventory
	{"local_id", "localID"},           // no service: the published design has it
}

// Keys of a configuration that are not properties of the record.
const (
	keyBatchID        = "batch_id"
	keySubmissionDate = "submissionDate"
	keySubmissionMode = "submission_mode"
	// keyAbsent lists the keys of a configuration that the record did not have. They have
	// a safe default.
	keyAbsent = aside + "absent"
)

// aside is put before a property's own name if that name means something else in a
// configuration.
const aside = "legacy."

// configuration is the data of /jobs/JID/configuration. A mapped key holds text. So a
// property whose value isn't a string is there under its own name too, to keep its type.
// In dialect mrt-zk every property is, because the services read those names.
func configuration(r migration.Record, bid string, d newqueue.Dialect) newqueue.Object {
	p := r.Legacy.Payload
	o := make(newqueue.Object, len(p)+len(configurationFields)+5)
	o[keyBatchID] = bid
	o[keySubmissionDate] = d.FormatTime(r.Legacy.Header.Time)
	o[keySubmissionMode] = submissionMode(p)
	for _, f := range configurationFields {
		if s, ok := p.Text(f.property); ok {
			o[f.key] = s
		}
	}
	for name, value := range p {
		key, mapped := keyOfProperty[name]
		_, isText := value.(string)
		if mapped && isText && (d == newqueue.Design || key == name) {
			continue // only under the mapped key
		}
		o[ownName(name)] = value
	}
	if d == newqueue.MrtZK && r.Queue == migration.Ingest {
		addUpdate(o, p)
	}
	return o
}

// addUpdate gives the configuration the key update as the services demand it: a boolean,
// and false if the record has none, as the legacy service wrote it. A value of another
// type is kept under another name. A value that is neither true nor false stays: the plan
// names it.
func addUpdate(o newqueue.Object, p legacy.Payload) {
	value, ok := updateFlag(p)
	if !ok {
		return
	}
	own, there := p[keyUpdate]
	o[keyUpdate] = value
	if !there {
		o[keyAbsent] = []any{keyUpdate}
	} else if _, isBool := own.(bool); !isBool {
		o[aside+keyUpdate] = own
	}
}

func ownName(property string) string {
	_, mapped := propertyOfKey[property]
	if mapped || property == keyBatchID || property == keySubmissionDate || property == keySubmissionMode || strings.HasPrefix(property, aside) {
		return aside + property
	}
	return property
}

// propertyOfKey and keyOfProperty are [configurationFields] both ways.
var propertyOfKey, keyOfProperty = func() (properties, keys map[string]string) {
	properties, keys = map[string]string{}, map[string]string{}
	for _, f := range configurationFields {
		properties[f.key], keys[f.property] = f.property, f.key
	}
	return properties, keys
}()

func submissionMode(p legacy.Payload) string {
	if strings.EqualFold(Text(p, keyUpdate), "true") {
		return "update"
	}
	return "add"
}

// Identifiers returns the identifiers of a record's object: the primary one, and the local
// ones, which the record has in one property.
func Identifiers(p legacy.Payload) newqueue.Identifiers {
	ids := newqueue.Identifiers{PrimaryID: Text(p, "objectID")}
	for id := range strings.SplitSeq(Text(p, "localID"), ";") {
		if id = strings.TrimSpace(id); id != "" {
			ids.LocalIDs = append(ids.LocalIDs, id)
		}
	}
	return ids
}

func metadata(p legacy.Payload) newqueue.Metadata {
	return newqueue.Metadata{
		ErcWhat:  Text(p, "title"),
		ErcWho:   Text(p, "creator"),
		ErcWhen:  Text(p, "date"),
		ErcWhere: Text(p, "objectID"),
	}
}

// keyUpdate is the one property for which the services demand a type: a boolean.
const keyUpdate = "update"

func updateFlag(p legacy.Payload) (value, ok bool) {
	switch v := p[keyUpdate].(type) {
	case nil:
		return false, true
	case bool:
		return v, true
	case string:
		return strings.EqualFold(v, "true"), strings.EqualFold(v, "true") || strings.EqualFold(v, "false")
	}
	return false, false
}
