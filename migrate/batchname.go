package migrate

import (
	"fmt"

	"mrtq/newqueue"
)

// checkBatchName checks that a new batch can be found by its batchID, as the name of a
// znode below /batch-uuids. In dialect mrt-zk the services look for exactly that name,
// and report no batch that they don't find (docs/deployed-services.md, R06 and R07). In
// dialect design, newqueue escapes the name ([newqueue.BatchUUIDPath]).
func (p *Plan) checkBatchName(b *batch, first job) {
	if b.key.kind != ofBatch || newqueue.CheckBatchID(b.key.name) == nil {
		return
	}
	what := fmt.Sprintf("its batchID %.80q can't be a znode's name", b.key.name)
	if p.Dialect != newqueue.MrtZK {
		p.warn(first.rec.Path, fmt.Sprintf("%s: the batch is found as %q", what, newqueue.BatchUUIDPath(b.key.name)))
		return
	}
	p.problem(Problem{Kind: BadBatchID, Path: first.rec.Path, Message: what + ": the services would not find the batch, and its report would be lost",
		Next: "let the legacy workers finish that batch, or give its records another batchID"})
}
