package migrate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
)

// Seals are digests of a plan's parts. They stand at the end of a saved plan: one
// that was cut short lacks them, and of one that was edited they say in which part.
type Seals struct {
	Head    string `json:"head"`    // the sides, the choices and the settings
	Records string `json:"records"` // what is done with each
	Rest    string `json:"rest"`
}

// planDigest digests a plan's JSON, part after part.
type planDigest struct {
	all, part hash.Hash
	parts     []string // that are done
}

func newPlanDigest() *planDigest { return &planDigest{all: sha256.New(), part: sha256.New()} }

// add adds JSON to a digest. Bytes that are no UTF-8 are escaped there, and when
// the plan was read back they are the character that stands for them.
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
	return bytes.ReplaceAll(text, []byte(`\ufffd`), []byte("\ufffd"))
}

// noRecords stands in a plan's JSON for its records: one for a queue's every record
// is too much to have as a whole.
var noRecords = []byte(`"records":[]`)

// digest is the plan's id, and its seals: of all that the plan says in JSON, the
// target's name included. Only how the source is spelled does not count, nor how
// far either side's transactions went, because others write there too.
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

// aroundRecords is what is digested of a plan's JSON before its records and after.
func (p *Plan) aroundRecords() (before, after []byte) {
	q := *p
	q.ID, q.Seals, q.Source.Name, q.Source.Zxid, q.Target.Zxid, q.Records = "", Seals{}, "", 0, 0, Records{}
	before, after, _ = bytes.Cut(mustJSON(&q), noRecords)
	return before, after
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
	for e := range p.Records.All() {
		h.Write(mustJSON(e))
	}
	h.Write(mustJSON(p.Batches))
	return hex.EncodeToString(h.Sum(nil))
}
