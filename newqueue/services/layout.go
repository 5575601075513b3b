package services

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// The map of the layout already has rules for most demands about entries and
// names (R03, R07, R14 to R17), and its codecs check some content (R04, R12,
// R31). The other demands are added to the map in dialect mrt-zk as rules.

// demandsPage has the table of all demands.
const demandsPage = "docs/deployed-services.md"

// ownRule is the id that a demand has as a rule of the map. It is "" if the map
// already has a rule for it.
func ownRule(d *Demand) string {
	switch {
	case d.place == nil && (d.ID == "R04" || d.ID == "R12" && d.Key != "last_successful_status" || d.ID == "R31" && d.Type.Words != accessWaits.Words):
		return ""
	case d.place != nil && d.ID != "R01" && d.ID != "R02" && !(d.ID == "R05" && d.Node == "status"):
		return ""
	}
	id := d.ID
	if d.Node != "" {
		id += "/" + d.Node
	}
	if d.Key != "" {
		id += "." + d.Key
	}
	return id
}

// AddRules adds to the map of the layout the demands for which it has no rule.
func AddRules(m *layout.Map) error {
	for i := range Demands {
		d := &Demands[i]
		id := ownRule(d)
		if id == "" || m.Rule(id) != nil {
			continue
		}
		severity := layout.Error
		if !slices.ContainsFunc(d.Stops, func(s Stop) bool { return s.Effect.Blocking() }) {
			severity = layout.Warning
		}
		rule := &layout.Rule{ID: id, Severity: severity, Path: patternOf[d.Of] + d.Node, Says: d.String(), Document: demandsPage + ", " + d.ID}
		if d.ID == "R02" {
			rule.Mend = "Wait until the worker is done. If no worker is, end its session or delete the lock."
		}
		if err := m.AddRule(rule); err != nil {
			return err
		}
	}
	return nil
}

var patternOf = map[Scope]string{
	OfTree: "/", OfBatch: "/batches/{bid}/", OfOpenBatch: "/batches/{bid}/", OfJob: "/jobs/{jid}/", OfDoneJob: "/jobs/{jid}/", OfOpenJob: "/jobs/{jid}/",
	OfFailedJob: "/jobs/{jid}/", OfStoringJob: "/jobs/{jid}/", OfRecordingJob: "/jobs/{jid}/", OfAccess: "/access/{queue}/{qid}/", OfWaitingAccess: "/access/{queue}/{qid}/",
}

// Rules returns the code that checks the demands of [AddRules], one znode after the
// other. It passes each violation to report. In memory it keeps the batchID of every
// batch and the paths of the jobs without a profile.
func Rules(report func(layout.Found)) layout.Native {
	return &passing{report: report, batchIDs: map[string]string{}, there: map[string]bool{}}
}

// passing has the item whose znodes are being visited, and what else its demands
// depend on.
type passing struct {
	report   func(layout.Found)
	it       *item
	there    map[string]bool // the root nodes that exist
	batchIDs map[string]string
	folders  map[string][]string // children of the current batch's states and of its folders
	profiles bool                // whether any job has one
	without  map[string]string   // jobs without one, and what they have instead
}

// Visit collects the znodes of one item.
func (p *passing) Visit(v layout.Visit) {
	n := v.Znode
	if isRoot[n.Path] {
		p.there[n.Path] = true
	}
	switch v.Node.ID {
	case "batch", "job", "request":
		p.finish()
		p.folders = map[string][]string{}
		p.it = &item{path: n.Path, id: znode.Name(n.Path)}
	case "batch-submission", "batch-status", "job-status", "job-configuration", "job-identifiers", "job-metadata", "job-inventory", "job-store", "request-token", "request-status":
		name := znode.Name(n.Path)
		if o, ok := v.Value.(newqueue.Object); ok { // as the map's codec read it
			p.it.nodes = append(p.it.nodes, content{node: name, object: o})
			break
		}
		p.it.nodes = append(p.it.nodes, readContent(name, n.Data))
	case "batch-states", "batch-folder":
		p.folders[n.Path] = v.Children
	case "job-bid":
		p.it.bid = string(n.Data)
	case "batch-lock", "job-lock", "request-lock", "storage-lock", "inventory-lock", "localid-lock":
		p.lock(v)
	}
}

var isRoot = func() map[string]bool {
	of := map[string]bool{}
	for _, path := range newqueue.MrtZK.StartNodes() {
		of[path] = true
	}
	return of
}()

// lock reports a lock. An ephemeral one is only information, because a worker
// holds it while it works.
func (p *passing) lock(v layout.Visit) {
	rule, severity, found := "R02", layout.Warning, "a lock that outlives its session"
	if strings.HasPrefix(v.Node.ID, "batch") || strings.HasPrefix(v.Node.ID, "job") || strings.HasPrefix(v.Node.ID, "request") {
		rule = "R02/lock"
	}
	if owner := v.Znode.Stat.EphemeralOwner; owner != 0 {
		severity, found = layout.Info, fmt.Sprintf("a lock of session %#x", owner)
	}
	p.report(layout.Found{Rule: rule, Severity: severity, Path: v.Znode.Path, Expected: "no lock when no service is at work", Found: found})
}

// finish checks the demands on an item after all its znodes were visited.
func (p *passing) finish() {
	it := p.it
	p.it = nil
	if it == nil {
		return
	}
	switch {
	case it.isBatch():
		it.asBatch()
		if id, ok := it.value("submission", "batchID").(string); ok {
			p.batchIDs[it.id] = id
		}
		p.agrees(it)
	case strings.HasPrefix(it.path, newqueue.JobsPath+"/"):
		it.asJob()
		if id, ok := p.batchIDs[it.bid]; ok {
			it.batchID = id
		}
		p.profile(it)
	default:
		it.asRequest()
	}
	for _, v := range it.violations(nil, nil) {
		if !it.statedByMap(v) {
			p.violation(v)
		}
	}
}

// statedByMap reports whether the map has a rule for the same violation: the
// znode must exist and be JSON.
func (it *item) statedByMap(v Violation) bool {
	if ownRule(v.Demand) == "" {
		return true
	}
	n := it.node(v.Demand.Node)
	switch {
	case v.Demand.Key != "":
		return false
	case n == nil:
		return slices.Contains([]string{"submission", "status", "configuration", "token"}, v.Demand.Node)
	}
	return n.bad != "" && (!n.empty || v.Demand.Node == "status")
}

func (p *passing) violation(v Violation) {
	found := layout.Found{Rule: ownRule(v.Demand), Path: v.Path, Expected: v.Demand.wanted(), Found: v.What + ": " + v.Then(), Severity: layout.Error}
	if !v.Stop.Effect.Blocking() {
		found.Severity = layout.Warning
	}
	p.report(found)
}

// wanted is the demand in words, without the item.
func (d *Demand) wanted() string {
	if d.Key != "" {
		return d.Key + " that is " + d.Type.Words
	}
	return d.Says
}

// agrees compares a batch's status with its jobs.
func (p *passing) agrees(it *item) {
	if it.state == "Processing" || it.state == "Reporting" {
		return // it agrees with any jobs, and may have very many
	}
	tree := znode.NewTree()
	for folder, names := range p.folders {
		_ = tree.Put(znode.Node{Path: folder}) // can't fail: the path was read from a tree
		for _, name := range names {
			_ = tree.Put(znode.Node{Path: znode.Join(folder, name)})
		}
	}
	c := &checker{tree: tree}
	for i := range Demands {
		d := &Demands[i]
		if d.Of != OfBatch || d.Node != "status" || d.ID != "R05" {
			continue
		}
		for _, f := range d.place(c, d, it) {
			p.violation(Violation{Demand: d, Item: it.path, Path: f.path, What: f.what, Stop: it.first(d.Stops)})
		}
	}
}

// profile remembers a job without a profile. It breaks a page of the admin tool if
// another job has one.
func (p *passing) profile(it *item) {
	profile := it.value("configuration", "profile")
	switch {
	case isText(profile):
		p.profiles = true
	case it.object("configuration") != nil:
		if p.without == nil {
			p.without = map[string]string{}
		}
		p.without[it.path] = show(profile)
	}
}

// Done checks the demands that depend on the whole tree.
func (p *passing) Done(time.Time) {
	p.finish()
	roots := demandOf("R01", func(d Demand) bool { return d.place != nil })
	for _, f := range missingRoots(func(path string) bool { return p.there[path] }) {
		p.violation(Violation{Demand: roots, Path: f.path, What: f.what, Stop: *f.stop})
	}
	if !p.profiles {
		return
	}
	d := demandOf("R30", func(d Demand) bool { return d.faults != nil })
	for _, path := range slices.Sorted(maps.Keys(p.without)) {
		p.violation(Violation{Demand: d, Item: path, Path: path + "/" + d.Node, What: "profile is " + p.without[path] + ", and other jobs have one", Stop: d.Stops[0]})
	}
}

// demandOf returns the one demand of a requirement for which wanted is true.
func demandOf(id string, wanted func(Demand) bool) *Demand {
	return &Demands[slices.IndexFunc(Demands, func(d Demand) bool { return d.ID == id && wanted(d) })]
}
