package migrate

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"mrtq/legacy"
	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// Provenance says which record a migrated job or access request was made from. It is the
// data of the job's own znode. Readers of the layout ignore that data, so provenance needs
// no znode of its own, and is deleted with the job (docs/migration.md, "From a record to
// znodes").
type Provenance struct {
	Run          string `json:"run"`
	Path         string `json:"path"`
	Sequence     int32  `json:"sequence"`
	Status       string `json:"status"`
	Time         string `json:"time"` // RFC 3339, "" for none
	TimeUnit     string `json:"time_unit"`
	HighPriority bool   `json:"high_priority"`
	Worker       string `json:"worker"`
	Format       string `json:"format"`
	SHA256       string `json:"sha256"` // of the record's raw bytes
	// Consumed is the policy under which a consumed record was migrated.
	Consumed string `json:"consumed,omitempty"`
}

// hash is the part of the record's digest that the ledger keeps; 0 if it is not a digest.
func (p origin) hash() uint32 {
	b, err := hex.DecodeString(p.SHA256)
	if err != nil || len(b) < 4 {
		return 0
	}
	return binary.BigEndian.Uint32(b)
}

// policies are the policies for a record that was migrated before. If it has not changed
// since, the decision about a consumed record stays.
func (p migratedJob) policies(r Record, now Policies) Policies {
	if p.prov.Consumed != "" && p.prov.SHA256 == digest(r.Data) {
		now.Consumed = p.prov.Consumed
	}
	return now
}

func provenance(r Record, initial initialState, run string) Provenance {
	l := r.Legacy
	p := Provenance{
		Run: run, Path: r.Path, Sequence: l.Key.Sequence, Status: l.Header.Status.String(),
		TimeUnit: string(l.Header.Unit), HighPriority: l.Key.HighPriority, Worker: l.Key.Worker,
		Format: string(l.Format), SHA256: hex.EncodeToString(l.SHA256[:]), Consumed: initial.consumed,
	}
	if !l.Header.Time.IsZero() {
		p.Time = l.Header.Time.Format(time.RFC3339Nano)
	}
	return p
}

func (p Provenance) encode() []byte {
	b := make([]byte, 0, 384)
	text := func(name, value string) {
		b = append(append(append(b, `,"`...), name...), `":`...)
		b = legacy.AppendJSON(b, value)
	}
	// In the order of the names, as [encode] has them.
	if p.Consumed != "" {
		text("consumed", p.Consumed)
	}
	text("format", p.Format)
	b = strconv.AppendBool(append(b, `,"high_priority":`...), p.HighPriority)
	text("path", p.Path)
	text("run", p.Run)
	b = strconv.AppendInt(append(b, `,"sequence":`...), int64(p.Sequence), 10)
	text("sha256", p.SHA256)
	text("status", p.Status)
	text("time", p.Time)
	text("time_unit", p.TimeUnit)
	text("worker", p.Worker)
	b[0] = '{'
	return append(b, '}')
}

// parseProvenance reads the data of a job's own znode. ok is false if no migration made
// the job.
func parseProvenance(data []byte) (p Provenance, ok bool) {
	if len(data) == 0 || json.Unmarshal(data, &p) != nil {
		return Provenance{}, false
	}
	return p, p.Run != "" && p.Path != "" && p.SHA256 != ""
}

// batchProvenance is the data of a migrated batch's own znode.
type batchProvenance struct {
	Run string    `json:"run"`
	Of  batchKind `json:"of"`
}

func (p batchProvenance) encode() []byte {
	return encode(newqueue.Object{"run": p.Run, "of": string(p.Of)})
}

func parseBatchProvenance(data []byte) (p batchProvenance, ok bool) {
	if len(data) == 0 || json.Unmarshal(data, &p) != nil {
		return batchProvenance{}, false
	}
	return p, p.Run != "" && p.Of != ""
}

// encode is the canonical JSON of an object. Unlike encoding/json, it keeps the unpaired
// surrogates that Java strings may hold.
func encode(o newqueue.Object) []byte {
	return legacy.AppendJSON(make([]byte, 0, 256), map[string]any(o))
}

// encodeValues is the canonical JSON of the data of an item's znode.
func encodeValues(v services.Values) []byte {
	if c, ok := v.(configured); ok {
		return encode(c.Object())
	}
	return encode(v.(newqueue.Object))
}
