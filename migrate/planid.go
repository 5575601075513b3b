package migrate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
)

// noRecords stands in a plan's JSON for its records: one for a queue's every record
// is too much to have as a whole.
var noRecords = []byte(`"records":[]`)

// digest is the plan's id: that of all that the plan says in JSON, the target's
// name included. Only how the source is spelled does not count, nor how far either
// side's transactions went, because others write there too.
func (p *Plan) digest() string {
	q := *p
	q.ID, q.Source.Name, q.Source.Zxid, q.Target.Zxid, q.Records = "", "", 0, 0, Records{}
	h := sha256.New()
	before, after, _ := bytes.Cut(mustJSON(&q), noRecords)
	hashJSON(h, before)
	h.Write(noRecords[:len(noRecords)-1])
	hashEntries(h, p.Records)
	h.Write([]byte("]"))
	hashJSON(h, after)
	return hex.EncodeToString(h.Sum(nil))
}

func hashEntries(h hash.Hash, entries Records) {
	first := true
	for e := range entries.All() {
		if !first {
			h.Write([]byte(","))
		}
		first = false
		hashJSON(h, mustJSON(e))
	}
}

// hashJSON adds JSON to a digest. Bytes that are no UTF-8 are escaped there, and
// when the plan was read back they are the character that stands for them.
func hashJSON(h hash.Hash, text []byte) {
	h.Write(bytes.ReplaceAll(text, []byte(`\ufffd`), []byte("\ufffd")))
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("migrate: a plan is always JSON: " + err.Error())
	}
	return b
}

// decisions is the part of the id that does not depend on what else moved in
// the target.
func (p *Plan) decisions() string {
	h := sha256.New()
	hashEntries(h, p.Records)
	hashJSON(h, mustJSON(p.Batches))
	return hex.EncodeToString(h.Sum(nil))
}
