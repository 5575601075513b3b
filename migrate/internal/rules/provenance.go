package rules

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"mrtq/legacy"
	"mrtq/newqueue"
)

// Provenance says which record a job or access request was made from. It is the data of
// the job's own znode, which readers of the layout ignore. People read it. mrtq decides
// nothing by it, because the ledger says what was migrated.
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
}

func (j Job) provenance() Provenance {
	l := j.Record.Legacy
	p := Provenance{
		Run: j.Run, Path: j.Record.Path, Sequence: l.Key.Sequence, Status: l.Header.Status.String(),
		TimeUnit: string(l.Header.Unit), HighPriority: l.Key.HighPriority, Worker: l.Key.Worker,
		Format: string(l.Format), SHA256: hex.EncodeToString(l.SHA256[:]),
	}
	if !l.Header.Time.IsZero() {
		p.Time = l.Header.Time.Format(time.RFC3339Nano)
	}
	return p
}

func (p Provenance) encode() []byte {
	return encode(newqueue.Object{
		"run": p.Run, "path": p.Path, "sequence": int64(p.Sequence), "status": p.Status, "time": p.Time, "time_unit": p.TimeUnit,
		"high_priority": p.HighPriority, "worker": p.Worker, "format": p.Format, "sha256": p.SHA256,
	})
}

// ParseProvenance reads the data of a job's own znode. ok is false if no migration made
// the job.
func ParseProvenance(data []byte) (p Provenance, ok bool) {
	if len(data) == 0 || json.Unmarshal(data, &p) != nil {
		return Provenance{}, false
	}
	return p, p.Run != "" && p.Path != ""
}

// batchProvenance is the data of a migrated batch's own znode.
func batchProvenance(run string, kind BatchKind) []byte {
	return legacy.AppendJSON(nil, map[string]any{"run": run, "of": string(kind)})
}
