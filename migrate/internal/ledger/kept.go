package ledger

import (
	"strings"

	"mrtq/internal/znode"
)

// KeptRoot is the name of the znode, beside the legacy queues, that has the bytes of the records that were
// handed over: below it KeptFolder/JOB.
const KeptRoot = "mrtq-handed-over"

// KeptRunPath returns the parent of the bytes of a run's records, on the server.
func (o Origin) KeptRunPath() string { return o.Path("/" + KeptRoot + "/" + o.KeptFolder) }

// KeptPath returns the znode with a record's bytes, on the server. It has the name of the job, because two queues
// can have records of one name, and a record can be handed over twice. Requests of the two access
// queues can have one id, so their names begin with the queue's.
func (r Run) KeptPath(job string) string {
	name := znode.Name(job)
	if parts := strings.Split(job, "/"); len(parts) > 3 { // /access/QUEUE/ID
		name = parts[2] + "-" + name
	}
	return znode.Join(r.Origin.KeptRunPath(), name)
}
