package migrate

import (
	"cmp"
	"fmt"

	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// ServiceFinding is one demand of the deployed services, and the records that don't meet
// it.
type ServiceFinding struct {
	Requirement string `json:"requirement"` // R01 to R32, or "inventory" or a notice's kind
	What        string `json:"what"`        // what is wrong with all items, with … where they differ
	Then        string `json:"then"`        // what would happen after the release
	Daemon      string `json:"daemon,omitempty"`
	// Blocking says that the plan can't be carried out because of it, unless the policy
	// that Policy names allows it.
	Blocking bool   `json:"blocking"`
	Policy   string `json:"policy,omitempty"`
	Count    int    `json:"count"` // of records and batches
	// Items are the first [MaxItems] of these records and batches.
	Items []ServiceItem `json:"items"`
}

// MaxItems is how many items of a finding are listed one by one.
const MaxItems = 1000

// ServiceItem is one record and the job or request that it becomes, or one batch.
type ServiceItem struct {
	Path string `json:"path"`           // of the legacy record, or of the batch
	Node string `json:"node,omitempty"` // in the new queue
	What string `json:"what"`
}

// inventoryFinding is the requirement of the finding on inventory records.
const inventoryFinding = "inventory"

// What a finding on inventory records says. Such a record holds one key, and its job needs
// more after it is recorded (docs/deployed-services.md, "Where a key comes from").
const (
	inventoryWhat = "an inventory record holds only a manifest URL, and no profile, batchID or update"
	inventoryThen = "Inventory would record it, Notify would then fail it, and its batch would stick in Reporting"
	inventoryNext = "drain the inventory queue first: let the legacy inventory service finish it; or migrate unfinished inventory records too, and fail or delete their jobs by hand"
	serviceNext   = "repair or remove these records in the legacy queue; or migrate them too, and repair their jobs by hand"
)

// findings collects the findings, by kind.
type findings struct {
	byKind           map[string]*ServiceFinding
	order            []string
	inventoryRecords map[string]bool // inventory records that were added
	kept             int             // how many items are listed, in all kinds together
	counted          *findings       // if not nil, its counts replace those of the same kinds here
}

func (f *findings) add(key string, one ServiceFinding, item ServiceItem) {
	if f.byKind == nil {
		f.byKind = map[string]*ServiceFinding{}
	}
	var counted *ServiceFinding
	if f.counted != nil {
		counted = f.counted.byKind[key]
	}
	found := f.byKind[key]
	if found == nil {
		one.What = item.What
		found = &one
		f.byKind[key], f.order = found, append(f.order, key)
	}
	found.What = InCommon(found.What, item.What)
	if counted != nil {
		found.Count = counted.Count
		if counted.Count > MaxItems { // not all of them are added here
			found.What = InCommon(found.What, counted.What)
		}
	} else {
		found.Count++
	}
	if len(found.Items) < MaxItems {
		found.Items = append(found.Items, item)
		f.kept++
	}
}

// violation adds a violation. record is the path of the record that the item is made from.
// inventory says that it is an unfinished inventory record, or the batch of one.
func (f *findings) violation(v services.Violation, record string, inventory bool) {
	item := ServiceItem{Path: cmp.Or(record, v.Item), Node: v.Path, What: v.What}
	if inventory {
		f.inventory(item.Path, item.Node)
		return
	}
	one := ServiceFinding{Requirement: v.Demand.ID, Then: v.Then(), Daemon: string(v.Stop.Daemon), Blocking: v.Stop.Effect.Blocking()}
	if one.Blocking {
		one.Policy = "unserviceable"
	}
	f.add(fmt.Sprint(v.Demand.ID, v.Demand.Node, v.Demand.Key, v.Stop), one, item)
}

// inventory adds an unfinished inventory record, unless it was added before.
func (f *findings) inventory(record, node string) {
	if f.inventoryRecords[record] {
		return
	}
	if f.inventoryRecords == nil {
		f.inventoryRecords = map[string]bool{}
	}
	f.add(inventoryFinding, ServiceFinding{Requirement: inventoryFinding, Then: inventoryThen, Daemon: string(services.Notify), Blocking: true, Policy: "inventory-records"},
		ServiceItem{Path: record, Node: node, What: inventoryWhat})
	f.inventoryRecords[record] = true
}

func (f *findings) notice(n services.Notice, record string) {
	f.add(string(n.Kind), ServiceFinding{Requirement: string(n.Kind), Then: noticeThen[n.Kind]}, ServiceItem{Path: cmp.Or(record, n.Item), Node: n.Item, What: n.What})
}

// noticeThen says what an operator should expect after each kind of notice.
var noticeThen = map[services.NoticeKind]string{
	services.MailsAtOnce:   "as soon as the hold is released, the depositor gets a mail about it, even if they got one before",
	services.MailsOldJobs:  "when all are done, the depositor gets one mail about it, which lists all of its jobs",
	services.RemovedSoon:   "gone within the hour: the hold on the queue does not stop the cleanup",
	services.SkipsInit:     "what Initialize would have prepared must be there when it is requeued",
	services.LostIfUnsized: "it could be lost in Estimating",
}

// all returns the findings, the blocking ones first.
func (f *findings) all() []ServiceFinding {
	list := []ServiceFinding{}
	for _, blocking := range []bool{true, false} {
		for _, key := range f.order {
			if f.byKind[key].Blocking == blocking {
				list = append(list, *f.byKind[key])
			}
		}
	}
	return list
}

// serviceChecks collects the items that no service could work on.
type serviceChecks struct {
	d        newqueue.Dialect
	profiles bool // whether any job has one
	statuses map[initialState]newqueue.Object
	found    *findings
}

func (c *serviceChecks) request(j *job) {
	for _, v := range services.CheckContent(services.Item{Path: j.root(), Objects: accessObjects(*j.rec, j.initial, c.d)}) {
		c.found.violation(v, j.rec.Path, false)
	}
}

// batch looks at the batch's own znodes.
func (c *serviceChecks) batch(b *batch) {
	if b.unfinishedInventory {
		return // the findings on its records are enough
	}
	objects, in := b.objects(c.d), b.tally.in
	for _, v := range services.CheckContent(services.Item{Path: newqueue.BatchPath(b.bid), Objects: objects}) {
		c.found.violation(v, "", false)
	}
	for _, n := range services.BatchNotices(newqueue.BatchPath(b.bid), stateName(objects), in.of(newqueue.FolderProcessing), in.of(newqueue.FolderCompleted)+in.of(newqueue.FolderFailed)) {
		c.found.notice(n, "")
	}
}

// look looks at a new job or request.
func (c *serviceChecks) look(j *job) {
	if j.batch == nil {
		c.request(j)
	} else {
		c.job(j)
	}
}

// job looks at a new job.
func (c *serviceChecks) job(j *job) {
	inventory := j.batch.key.kind == ofInventory
	if _, named := j.rec.Legacy.Payload["profile"]; inventory && !named && isUnfinished(j.initial) {
		c.found.inventory(j.rec.Path, j.root()+"/configuration") // R21, even if it lacks more
		return
	}
	status := c.statuses[j.initial]
	if status == nil {
		status = jobStatus(Record{}, j.initial, c.d).Object(c.d)
		c.statuses[j.initial] = status
	}
	item := services.Item{Path: j.root(), Objects: j.checked(j.batch.bid, status, c.d), BatchID: j.batch.key.uuid(), Profiles: c.profiles}
	for _, v := range services.CheckContent(item) {
		c.found.violation(v, j.rec.Path, inventory && isUnfinished(j.initial))
	}
	if inventory && isUnfinished(j.initial) {
		return
	}
	for _, n := range services.JobNotices(item.Path, stateName(item.Objects), status["last_successful_status"], j.rec.Legacy.Payload["type"], j.rec.Legacy.Key.Priority) {
		c.found.notice(n, j.rec.Path)
	}
}

// checked returns the objects of a new job that can violate a demand. Only the configuration
// and the manifest's URL depend on the record. The status depends on the initial state and the
// record's time, and every time is allowed. Identifiers and metadata are always strings.
func (j *job) checked(bid string, status newqueue.Object, d newqueue.Dialect) []services.NodeObject {
	objects := []services.NodeObject{
		{Node: "configuration", Object: configured{*j.rec, bid, d}},
		{Node: "identifiers", Object: anyIdentifiers},
		{Node: "metadata", Object: anyMetadata},
		{Node: "status", Object: status},
	}
	if j.rec.Queue == Inventory {
		objects = append(objects, services.NodeObject{Node: "inventory", Object: inventoryOf(*j.rec).Object()})
	}
	return objects
}

var anyIdentifiers, anyMetadata = newqueue.Identifiers{}.Object(), newqueue.Metadata{}.Object()

// stateName returns the state in an item's status.
func stateName(objects []services.NodeObject) string {
	for _, o := range objects {
		if o.Node == "status" {
			v, _ := o.Object.Value("status")
			name, _ := v.(string)
			return name
		}
	}
	return ""
}

// blockService adds a problem for a blocking finding, unless the operator's policy allows
// it.
func (p *Plan) blockService(f ServiceFinding) {
	choice := map[string]string{"unserviceable": p.Policies.Unserviceable, "inventory-records": p.Policies.InventoryRecords}[f.Policy]
	if !f.Blocking || choice == Migrate {
		return
	}
	problem := Problem{Kind: Unserviceable, Path: f.Items[0].Path, Message: fmt.Sprintf("%s: %s", f.Items[0].What, f.Then), Next: serviceNext}
	if n := f.Count - 1; n > 0 {
		problem.Message += fmt.Sprintf(" (and %d more like it)", n)
	}
	if f.Requirement == inventoryFinding {
		problem.Kind, problem.Next = InventoryWaiting, inventoryNext
	}
	p.problem(problem)
}

func isUnfinished(initial initialState) bool {
	return initial.job != newqueue.JobCompleted && initial.job != newqueue.JobDeleted
}

// readers say which services can read a dialect.
var readers = map[newqueue.Dialect]string{
	newqueue.Design: "services built on the documents' layout, such as those that use mrtq's newqueue. None of the deployed services can read it: they need dialect mrt-zk",
	newqueue.MrtZK:  "the deployed services: mrt-ingest, mrt-store, mrt-inventory and the Ruby admin tool",
}
