package migrate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
)

// Seals are digests of a plan's parts, at the end of a saved plan. A plan that was cut
// short lacks them. In a plan that was edited, they show which part was.
type Seals struct {
	Head    string `json:"head"`    // the sides, the choices and the settings
	Records string `json:"records"` // what the plan does with each record
	Rest    string `json:"rest"`
}

// planDigest digests a plan's JSON, part after part.
type planDigest struct {
	all, part hash.Hash
	parts     []string // the parts' digests
}

func newPlanDigest() *planDigest { return &planDigest{all: sha256.New(), part: sha256.New()} }

// add adds JSON to the digests. If a string is not UTF-8, JSON writes a replacement
// character, escaped in a new plan and as it is in one that was read back. The digests
// must not depend on that.
func (d *planDigest) add(text []byte) {
	text = readBack(text)
	d.all.Write(text)
	d.part.Write(text)
}

// next ends a part.
func (d *planDigest) next() {
	d.parts = append(d.parts, hex.EncodeToString(d.part.Sum(nil)))
	d.part.Reset()
}

func (d *planDigest) sum() (id string, seals Seals) {
	return hex.EncodeToString(d.all.Sum(nil)), Seals{Head: d.parts[0], Records: d.parts[1], Rest: d.parts[2]}
}

func readBack(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\ufffd`)) {
		return text
	}
	return bytes.ReplaceAll(text, []byte(`\ufffd`), []byte("\ufffd"))
}

// noRecords stands for the records in a plan's JSON. All of them together could be too
// large for memory.
var noRecords = []byte(`"records":[]`)

// digest computes the plan's id and seals from the plan's JSON. Three things don't count:
// the source's name, because it can be spelled in several ways, and both sides' newest
// transactions, because others write there too.
func (p *Plan) digest() (id string, seals Seals) {
	d := newPlanDigest()
	before, after := p.aroundRecords()
	d.add(before)
	d.next()
	d.add(noRecords[:len(noRecords)-1])
	first := true
	for e := range p.Records.All() {
		if !first {
			d.add([]byte(","))
		}
		first = false
		d.add(mustJSON(e))
	}
	d.add([]byte("]"))
	d.next()
	d.add(after)
	d.next()
	return d.sum()
}

// aroundRecords is the plan's JSON before its records and after them, as it is digested.
func (p *Plan) aroundRecords() (before, after []byte) {
	q := *p
	q.ID, q.Seals, q.Source.Name, q.Source.Zxid, q.Target.Zxid, q.Records = "", Seals{}, "", 0, 0, Records{}
	text, err := q.MarshalJSON() // json.Marshal would hold it three times
	if err != nil {
		panic(neverJSON + err.Error())
	}
	before, after, _ = bytes.Cut(text, noRecords)
	return before, after
}

const neverJSON = "migrate: a plan is always JSON: "

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(neverJSON + err.Error())
	}
	return b
}

// decisions is a digest of what the plan decides. Unlike the id, it does not change when
// others write to the target.
func (p *Plan) decisions() string {
	h := sha256.New()
	for e := range p.Records.All() {
		h.Write(mustJSON(e))
	}
	h.Write(mustJSON(p.Batches))
	return hex.EncodeToString(h.Sum(nil))
}
