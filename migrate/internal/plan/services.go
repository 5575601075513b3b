package plan

import (
	"cmp"
	"crypto/sha256"
	"fmt"

	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

const inventoryFinding = "inventory"

// What a finding on inventory records says. Such a record holds one key, and its job needs
// more after it is recorded (docs/migration.md, "From a record to znodes").
const (
	inventoryWhat = "an inventory record holds only a manifest URL, and no profile, batchID or update"
	inventoryThen = "Inventory would record it, Notify would then fail it, and its batch would stick in Reporting"
	inventoryNext = "drain the inventory queue first: release, requeue or delete its held, failed and consumed records, and let the legacy inventory service finish it; or migrate unfinished inventory records too, and fail or delete their jobs by hand"
	serviceNext   = "repair or remove these records in the legacy queue; or migrate them too, and repair their jobs by hand"
	jobIDThen     = "both would work in one folder, and one of them would be stored without its content"
	tokenThen     = "no worker could read the request, and nobody would assemble it"
)

// checkServices looks at what a record becomes, and finds what keeps the deployed services
// from working on it (docs/deployed-services.md). It looks at the JSON objects that the
// migration would write. It does not look at where an item's entries are, because a
// migration always gets that right.
func (b *Builder) checkServices(r migration.Record, s rules.State, batch *Batch) {
	if b.plan.Dialect != newqueue.MrtZK {
		b.warnOfBatchID(r, batch)
		b.checkToken(r, s)
		return
	}
	job := rules.Job{Record: r, State: s, Priority: b.plan.Choices.Priority(r), ID: newqueue.SequenceID(newqueue.JobPrefix, 0), Batch: newqueue.SequenceID(newqueue.BatchPrefix, 0)}
	item := services.Item{Path: job.Root(), Objects: objects(job.Objects(b.plan.Dialect))}
	if batch == nil {
		for _, v := range services.CheckContent(item) {
			b.violation(v, r.Path)
		}
		return
	}
	item.BatchID = batch.UUID
	if r.Queue == migration.Inventory && s.Unfinished() {
		b.checkInventory(item, r)
		return
	}
	for _, v := range services.CheckContent(item) {
		b.violation(v, r.Path)
	}
	if s.Unfinished() {
		b.checkJobID(r, batch)
	}
	for _, n := range services.JobNotices(item, job.Priority, r.Legacy.Header.Status == legacy.Consumed) {
		b.notice(n, r.Path)
	}
}

// jobKey stands for what the services find a job's folder by, its batchID and jobID. It is a digest, because a plan of a
// million records keeps a million.
type jobKey [16]byte

func keyOf(r migration.Record, batch *Batch) jobKey {
	sum := sha256.Sum256([]byte(batch.UUID + "\x00" + rules.Text(r.Legacy.Payload, "jobID")))
	return jobKey(sum[:16])
}

func (b *Builder) checkJobID(r migration.Record, batch *Batch) {
	id, key := rules.Text(r.Legacy.Payload, "jobID"), keyOf(r, batch)
	other, there := b.unfinished[key]
	if id == "" {
		return
	}
	if !there {
		b.unfinished[key] = r.Path
		return
	}
	add := func(path, other string) {
		b.find("jobID", migration.Finding{Kind: "R19", Effect: migration.EffectUnfit, Then: jobIDThen, Choice: "unserviceable"},
			migration.FindingItem{Path: path, What: fmt.Sprintf("its jobID %.80q is that of %s, too", id, other)})
	}
	if !b.doubled[key] {
		b.doubled[key] = true
		add(other, r.Path)
	}
	add(r.Path, other)
}

// checkInventory looks at the job of an unfinished inventory record. One finding says all.
func (b *Builder) checkInventory(item services.Item, r migration.Record) {
	if len(services.CheckContent(item)) > 0 {
		b.find(inventoryFinding, migration.Finding{Kind: inventoryFinding, Effect: migration.EffectUnfit, Then: inventoryThen, Choice: "inventory-records"},
			migration.FindingItem{Path: r.Path, What: inventoryWhat})
	}
}

func (b *Builder) checkToken(r migration.Record, s rules.State) {
	if !r.Queue.IsAccess() || s.Finished() {
		return
	}
	for _, n := range (rules.Job{Record: r, State: s}).Nodes(b.plan.Dialect) {
		if _, err := newqueue.Parse[newqueue.Token](b.plan.Dialect, n.Data); err != nil && znode.Name(n.Path) == "token" {
			b.find("token", migration.Finding{Kind: "token", Effect: migration.EffectUnfit, Then: tokenThen, Choice: "unserviceable"}, migration.FindingItem{Path: r.Path, What: "its token: " + err.Error()})
		}
	}
}

func (b *Builder) warnOfBatchID(r migration.Record, batch *Batch) {
	if batch != nil && batch.All.Jobs == 1 && batch.All.Key.Kind == rules.OfBatch && newqueue.CheckBatchID(batch.UUID) != nil {
		b.warn("batch-name", r.Path, fmt.Sprintf("its batchID %.80q can't be a znode's name: the batch is found as %q", batch.UUID, newqueue.BatchUUIDPath(batch.UUID)))
	}
}

func objects(list []rules.Object) map[string]newqueue.Object {
	of := map[string]newqueue.Object{}
	for _, o := range list {
		of[o.Node] = o.Values
	}
	return of
}

func (b *Builder) finishServices() {
	if b.plan.Dialect == newqueue.MrtZK {
		for _, batch := range b.plan.Batches {
			b.checkBatch(batch)
		}
	}
}

func (b *Builder) checkBatch(batch *Batch) {
	inventory := batch.All.Key.Kind == rules.OfInventory && batch.All.State() != newqueue.BatchCompleted
	if !batch.Ours || inventory {
		return // the findings on its records are enough
	}
	path := newqueue.BatchUUIDPath(batch.UUID)
	item := services.Item{Path: newqueue.BatchPath(newqueue.SequenceID(newqueue.BatchPrefix, 0)), Objects: objects(batch.All.Objects(b.plan.Dialect))}
	for _, v := range services.CheckContent(item) {
		b.violation(v, path)
	}
	in := batch.All.In
	state, _ := item.Objects["status"]["status"].(string)
	for _, n := range services.BatchNotices(state, in(newqueue.FolderProcessing), in(newqueue.FolderCompleted)+in(newqueue.FolderFailed)) {
		b.notice(n, path)
	}
}

func (b *Builder) blockService(f migration.Finding) {
	chosen := map[string]string{"unserviceable": b.plan.Choices.Unserviceable, "inventory-records": b.plan.Choices.InventoryRecords}[f.Choice]
	if f.Effect != migration.EffectUnfit || chosen == migration.Migrate {
		return
	}
	problem := migration.Problem{Kind: migration.ProblemUnserviceable, Path: f.Items[0].Path, Message: fmt.Sprintf("%s: %s", f.What, cmp.Or(f.Then, "no service could work on it")), Next: serviceNext}
	if n := len(f.Items) - 1; n > 0 {
		problem.Message += fmt.Sprintf(" (and %d more like it)", n)
	}
	if f.Kind == inventoryFinding {
		problem.Kind, problem.Next = migration.ProblemInventoryWaiting, inventoryNext
	}
	b.problem(problem)
}
