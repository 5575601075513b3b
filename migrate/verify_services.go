package migrate

import (
	"context"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// entriesOf returns how many entries a folder of a batch has in the whole queue.
type entriesOf func(bid string, f newqueue.BatchFolder) int

// services checks a piece by what the deployed services demand. counts says, by the znode or
// the item, which violations belong to this piece.
func (p *piece) services(counts func(path string) bool, there, wanted entriesOf) {
	if p.dialect != newqueue.MrtZK || len(p.target.runs) == 0 {
		return
	}
	var expected map[string]bool // what the records lack; found out only if something is wrong
	for _, x := range services.CheckPart(p.tree, orNone(there)) {
		if !counts(x.Path) && !counts(x.Item) {
			continue
		}
		if expected == nil {
			expected = map[string]bool{}
			for _, w := range services.CheckPart(p.want, orNone(wanted)) {
				expected[w.String()] = true
			}
		}
		n := p.tree.Get(x.Path)
		p.faults.add(serviceFault{
			Violation: x, made: p.isOurs(x.Path) || p.isOurs(x.Item), expected: expected[x.String()],
			atWork: n != nil && n.Stat.EphemeralOwner != 0, record: p.records[x.Item], inventory: p.inventory[x.Item],
		})
	}
}

// orNone returns entries. If that is nil, it returns a function that says that there are no
// more than the part shows.
func orNone(entries entriesOf) entriesOf {
	if entries != nil {
		return entries
	}
	return func(string, newqueue.BatchFolder) int { return 0 }
}

// jobServices looks at jobs and requests.
func (p *piece) jobServices(ctx context.Context, jobs []*job) error {
	if p.dialect != newqueue.MrtZK {
		return nil
	}
	if err := p.addSubmissions(ctx); err != nil {
		return err
	}
	p.profiles.there = p.profiles.there || services.HasProfile(p.tree)
	p.profiles.wanted = p.profiles.wanted || services.HasProfile(p.want)
	p.records, p.inventory = map[string]string{}, map[string]bool{}
	for _, j := range jobs {
		p.records[j.root()] = j.rec.Path
		p.inventory[j.root()] = j.rec.Queue == Inventory && isUnfinished(j.initial)
	}
	p.services(p.owns, nil, nil)
	return nil
}

// addSubmissions adds submissions with the batchIDs of the jobs' batches, because a job has to
// have the same one. A batchID that is as it should be is known without reading it again.
func (p *piece) addSubmissions(ctx context.Context) error {
	var others []string
	for _, root := range p.roots {
		bid := string(dataOf(p.tree.Get(root + "/bid")))
		row := p.target.batchOf(bid)
		path := newqueue.BatchPath(bid) + "/submission"
		if row == nil || p.tree.Get(path) != nil {
			continue
		}
		known := false
		for _, b := range p.wanted[bid] {
			data := encode(newqueue.Object{"batchID": b.key.uuid()})
			if known = p.target.batchIDs.of(batchIDIn(data)) == row.batchID; known {
				if err := p.put(znode.Node{Path: path, Data: data}); err != nil {
					return err
				}
				break
			}
		}
		if !known {
			others = append(others, path)
		}
	}
	return p.target.read(ctx, p.part, distinct(others))
}

// batchServices looks at batches.
func (p *piece) batchServices() {
	p.inventory = map[string]bool{}
	for _, path := range p.roots {
		for _, b := range p.wanted[strings.TrimPrefix(path, newqueue.BatchesPath+"/")] {
			p.inventory[path] = p.inventory[path] || b.unfinishedInventory
		}
	}
	there := func(bid string, f newqueue.BatchFolder) int {
		b := p.target.batchOf(bid)
		if b == nil {
			return 0
		}
		return int(b.entries[slices.Index(newqueue.BatchFolders, f)])
	}
	wanted := func(bid string, f newqueue.BatchFolder) int {
		in := 0
		for _, b := range p.wanted[bid] {
			in += b.tally.in.of(f)
		}
		return in
	}
	p.services(p.owns, there, wanted)
}

// concludeServices sorts the faults. If the record itself lacks something, the plan said so
// and the operator chose to migrate it: it is listed again, but is not a difference. Any
// other fault in what the migration created is a difference. A fault at a znode that has a
// difference already is left out.
func (v *verifier) concludeServices(named map[string]bool) {
	if v.dialect != newqueue.MrtZK {
		return
	}
	var found findings
	for x := range v.faults.sorted() {
		if x.Demand.OnlyWithProfiles() {
			if !v.profiles.there {
				continue
			}
			x.expected = x.expected && v.profiles.wanted
		}
		switch {
		case named[x.Path]:
		case v.opt.Others && x.atWork:
		case x.made && !x.expected:
			v.differ(NotServiceable, x.Path, x.What+": "+x.Then())
		case strings.HasPrefix(x.Item, newqueue.BatchesPath) && x.inventory:
			// The faults of its records say it.
		default:
			found.violation(x.Violation, x.record, x.inventory)
		}
	}
	v.verdict.Services = found.all()
}
