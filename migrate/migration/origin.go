package migration

import (
	"strings"

	"mrtq/internal/znode"
)

// Origin is where a run's legacy queue is. With it, later commands need only the target's address.
type Origin struct {
	// OneEnsemble says that the run has seen, through its source, what it wrote to its target. So
	// one transaction can change both. A path alone doesn't show that: an ensemble that was
	// restored from the other's snapshot has the same znodes.
	OneEnsemble bool   `json:"one_ensemble"`
	Chroot      string `json:"chroot"` // of the legacy queue, on the server; "/" if it has none
	Queues      Queues `json:"queues"` // paths below Chroot
	// Czxids has the czxid of each queue node that is there, by its path below Chroot. A queue node that
	// was removed and created again has another one, and begins its numbers again.
	Czxids map[string]int64 `json:"czxids"`
	// KeptFolder is the name of the znode below which the bytes of the run's records are kept. The run's first transaction
	// creates it, and no other run has it: other targets have runs with the same id.
	KeptFolder string `json:"kept"`
}

// Path returns a path of the legacy queue's, on the server.
func (o Origin) Path(path string) string {
	if o.Chroot == "/" {
		return path
	}
	return o.Chroot + path
}

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
