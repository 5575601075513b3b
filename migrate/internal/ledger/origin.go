package ledger

import "mrtq/migrate/internal/rules"

// Origin is where a run's legacy queue is. With it, later commands need only the target's address.
type Origin struct {
	// OneEnsemble says that the run has seen, through its source, what it wrote to its target. So
	// one transaction can change both. A path alone doesn't show that: an ensemble that was
	// restored from the other's snapshot has the same znodes.
	OneEnsemble bool         `json:"one_ensemble"`
	Chroot      string       `json:"chroot"` // of the legacy queue, on the server; "/" if it has none
	Queues      rules.Queues `json:"queues"` // paths below Chroot
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
