package plan

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// ErrSourceChanged says that a record has changed since the plan was made.
var ErrSourceChanged = errors.New("the source has changed since it was read")

// ToCreate yields the paths of the records that the plan creates jobs or requests for, in
// the order in which they are migrated.
func (p *Made) ToCreate() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range p.Records {
			if p.Records[i].Action == migration.ActionCreate && !yield(p.Records[i].Path) {
				return
			}
		}
	}
}

// Limits returns the limits of a transaction that fits the server's packets, whose size the
// operator gave. A smaller limit of the caller's stays.
func (p *Made) Limits(l migration.TransactionLimits) migration.TransactionLimits {
	if l.Bytes == 0 {
		l.Bytes = apply.DefaultBytes
	}
	l.Bytes = max(min(l.Bytes, p.Settings.MaxBuffer-reserve), 1)
	return l
}

// Pieces yields what carries out the plan, one record after the other. records are those
// of [Made.ToCreate], as they are read again. The error wraps [ErrSourceChanged], or is one
// of records. It can be used once.
func (p *Made) Pieces(records iter.Seq2[source.Fetched, error]) iter.Seq2[apply.Piece, error] {
	return func(yield func(apply.Piece, error) bool) {
		m := maker{plan: p, written: map[*Batch]*written{}}
		next := 0
		for f, err := range records {
			for err == nil && p.Records[next].Action != migration.ActionCreate {
				next++
			}
			var piece apply.Piece
			if err == nil {
				piece, err = m.piece(f, &p.Records[next])
				next++
			}
			if !yield(piece, err) || err != nil {
				return
			}
		}
		for _, b := range p.Batches {
			if b.Ours && !b.New && b.Adds == 0 && !slices.Contains(b.Folders, newqueue.FolderProcessing) && !yield(m.closing(b), nil) {
				return
			}
		}
	}
}

type maker struct {
	plan    *Made
	written map[*Batch]*written
}

// written is how much of a batch earlier pieces create.
type written struct {
	jobs    int
	folders []newqueue.BatchFolder
	witness *string // the entry of its last unfinished job, once that has an id
	group   *apply.Group
}

func (m *maker) piece(f source.Fetched, line *migration.PlanRecord) (apply.Piece, error) {
	if !f.There || ledger.HashOf(f.SHA256()) != line.Hash {
		return apply.Piece{}, fmt.Errorf("%w: %s", ErrSourceChanged, line.Path)
	}
	d := rules.Decide(f.Record, m.plan.Choices)
	job := rules.Job{Record: f.Record, State: d.State, Priority: m.plan.Choices.Priority(f.Record), Run: m.plan.Run}
	var piece apply.Piece
	if f.Queue.IsAccess() {
		piece = m.request(job, f.Stat.Czxid)
	} else {
		piece = m.job(job, m.plan.byKey[rules.BatchOf(f.Record, m.plan.Run, m.plan.Dialect)], f.Stat.Czxid)
	}
	if m.plan.onto != nil {
		m.handOver(&piece, f)
	}
	return piece, nil
}

// handOver adds to the piece of a job that its record leaves the legacy queue in the same transaction.
func (m *maker) handOver(piece *apply.Piece, f source.Fetched) {
	run, build := m.plan.onto, piece.Build
	piece.Optional = true
	piece.Build = func(ids []string) ([]znode.Op, []ledger.Line) {
		ops, lines := build(ids)
		job := lines[len(lines)-1].Job
		ops = append(ops, znode.Outside(znode.Delete(run.Origin.Path(f.Path), f.Stat.Version), znode.Op{Kind: znode.OpCreate, Path: run.KeptPath(job), Data: f.Data, ACL: f.ACL})...)
		return ops, append(lines, ledger.Line{Kind: ledger.HandedOver, Record: f.Path, Job: job, Hash: ledger.HashOf(f.SHA256()), Kept: true})
	}
}

func (m *maker) request(job rules.Job, czxid int64) apply.Piece {
	return apply.Piece{
		Parents: []string{parentOf(job.Record.Queue)},
		Created: migration.Counts{Access: 1},
		Build: func(ids []string) ([]znode.Op, []ledger.Line) {
			job.ID = ids[0]
			return m.creates(job.Nodes(m.plan.Dialect)), []ledger.Line{lineOf(job, czxid)}
		},
	}
}

func (m *maker) job(job rules.Job, b *Batch, czxid int64) apply.Piece {
	w := m.written[b]
	if w == nil {
		w = &written{folders: slices.Clone(b.Folders), witness: &b.Witness}
		if b.New && m.plan.onto != nil {
			w.group = &apply.Group{}
		}
		m.written[b] = w
	}
	w.jobs++
	first, last := b.New && w.jobs == 1, b.Ours && w.jobs == b.Adds
	if m.plan.onto != nil { // the others may be left out
		last = first
	}
	folder := job.State.Job.Folder()
	opens := !slices.Contains(w.folders, folder)
	if opens {
		w.folders = append(w.folders, folder)
	}
	piece := apply.Piece{Parents: []string{newqueue.JobsPath}, Created: migration.Counts{Jobs: 1}, Group: w.group}
	if first {
		piece.Parents = append(piece.Parents, newqueue.BatchesPath)
		piece.Created.Batches = 1
	}
	witness, entry := w.witness, new(string)
	if b.New && job.State.Unfinished() && folder == newqueue.FolderProcessing {
		w.witness = entry
	}
	piece.Build = func(ids []string) ([]znode.Op, []ledger.Line) {
		job.ID = ids[0]
		var nodes []rules.Node
		var ops []znode.Op
		var lines []ledger.Line
		switch {
		case first:
			b.All.ID = ids[1]
			nodes = b.All.Nodes(m.plan.Dialect)
			lines = append(lines, ledger.Line{Kind: ledger.BatchCreated, Batch: b.All.ID, UUID: znode.Name(newqueue.BatchUUIDPath(b.UUID)), Jobs: b.All.Jobs})
		case m.plan.onto != nil:
			ops = append(ops, stillOpen(b, *witness)...)
		case !b.New: // no job is added to a batch that another client has worked on meanwhile
			ops = append(ops, znode.Check(newqueue.BatchPath(b.All.ID)+"/status", b.StatusVersion))
		}
		job.Batch = b.All.ID
		*entry = newqueue.BatchEntryPath(job.Batch, folder, job.ID)
		if opens {
			nodes = append(nodes, b.All.Folder(job.State))
		}
		nodes = append(nodes, job.Nodes(m.plan.Dialect)...)
		if last {
			nodes = append(nodes, closingNodes(b, w.folders)...)
		}
		return append(ops, m.creates(nodes)...), append(lines, lineOf(job, czxid))
	}
	return piece
}

// stillOpen are the checks that no reporter has begun with a released batch, and that none can have found it finished (docs/life.md, "Follow"). The
// lock is created and deleted, because nothing else fails if it is there.
func stillOpen(b *Batch, witness string) []znode.Op {
	root := newqueue.BatchPath(b.All.ID)
	ops := []znode.Op{znode.Check(root+"/status", b.StatusVersion), znode.Create(root+"/lock", rules.None), znode.Delete(root+"/lock", -1)}
	if witness != "" { // a new batch of failed jobs alone has none, and nobody reports it
		ops = append(ops, znode.Check(witness, -1))
	}
	return ops
}

// closing makes the piece of a batch whose jobs are all there, and which a run that was
// interrupted has not closed.
func (m *maker) closing(b *Batch) apply.Piece {
	return apply.Piece{Build: func([]string) ([]znode.Op, []ledger.Line) { return m.creates(closingNodes(b, b.Folders)), nil }}
}

func closingNodes(b *Batch, there []newqueue.BatchFolder) []rules.Node {
	if slices.Contains(there, newqueue.FolderProcessing) {
		return nil
	}
	return b.All.Closing()
}

func lineOf(job rules.Job, czxid int64) ledger.Line {
	return ledger.Line{Kind: ledger.JobCreated, Record: job.Record.Path, Job: job.Root(), Batch: job.Batch, Hash: ledger.HashOf(job.Record.SHA256()), Czxid: czxid, Key: ledger.HashOfKey(rules.KeyOf(job.Record))}
}

func (m *maker) creates(nodes []rules.Node) []znode.Op {
	ops := make([]znode.Op, len(nodes))
	for i, n := range nodes {
		ops[i] = znode.Op{Kind: znode.OpCreate, Path: n.Path, Data: n.Data, ACL: m.plan.Settings.ACL}
	}
	return ops
}
