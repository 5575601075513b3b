package verify

// orphanJob is the rule that the batch of a job exists.
const orphanJob = "job-bid/orphan"

// Who leaves damage, although nobody means to.
const (
	killedDaemon = "a daemon that was killed between two of its writes"
	deletedNode  = "an administrator, with Delete of a node"
	estimate     = "Estimate: it adds 10 to the priority of a job whose size it does not find"
)

// canCause says who can break a rule of the layout, although nobody means to. Nobody who follows the documents breaks any
// other (docs/deployed-services.md, "What the daemons write").
var canCause = map[string]string{
	"queue-entry/no-entry": killedDaemon, "queue-entry/wrong-queue": killedDaemon, "queue-entry/wrong-priority": killedDaemon,
	"batch-entry/no-entry": killedDaemon, "batch-entry/wrong-folder": killedDaemon,
	"queue-entry/orphan": deletedNode, "batch-entry/orphan": deletedNode,
	orphanJob:                "an administrator, with Delete of the batch and Cleanup Queue",
	"job-priority/bad-value": estimate, "queue-entry/three-digits": estimate,
}
