package rules

import (
	"encoding/hex"
	"time"

	"mrtq/newqueue"
)

// provenance says which record a job or access request was made from. It is the data of
// the job's own znode, which readers of the layout ignore. People read it. mrtq decides
// nothing by it, because the ledger says what was migrated.
func (j Job) provenance() []byte {
	l, at := j.Record.Legacy, "" // RFC 3339, "" for none
	if !l.Header.Time.IsZero() {
		at = l.Header.Time.Format(time.RFC3339Nano)
	}
	return encode(newqueue.Object{
		"run": j.Run, "path": j.Record.Path, "sequence": int64(l.Key.Sequence), "status": l.Header.Status.String(), "time": at, "time_unit": string(l.Header.Unit),
		"high_priority": l.Key.HighPriority, "worker": l.Key.Worker, "format": string(l.Format), "sha256": hex.EncodeToString(l.SHA256[:]), // of the record's raw bytes
	})
}

// batchProvenance is the data of a migrated batch's own znode.
func batchProvenance(run string, kind BatchKind) []byte {
	return encode(newqueue.Object{"run": run, "of": string(kind)})
}
