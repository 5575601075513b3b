package migrate

import (
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// entryRow is a job's entry: in the queue of a state, or in a folder of a batch. There
// are two for each job, so a row is small and has no pointers.
type entryRow struct {
	jid        ref
	at         ref    // the entry's path; in a batch, the BID
	acl        int8   // one more than the ACL's index in entryRows.acls; 0 if it was not read
	in         int8   // 0 in a queue; else one more than the batch folder's index in [newqueue.BatchFolders]
	incomplete bool   // it is not as a run created it, so the row does not say all of it
	epoch      uint8  // index into entryRows.epochs: the upper half of the transaction that created it
	czxidLow   uint32 // the lower half of that transaction
}

// entryRows are entries in the order of the jobs' ids. The entries of one job are in the
// order in which they were found.
type entryRows struct {
	names  *names
	rows   []entryRow
	acls   [][]znode.ACL // the entries' different ACLs
	epochs []int64
}

// add adds an entry at the end; see [entryRows.sort].
func (e *entryRows) add(n *znode.Node) {
	row := entryRow{incomplete: !isUnchanged(n), czxidLow: uint32(n.Stat.Czxid)}
	jid, bid, folder := entryOf(n.Path)
	row.jid, row.at = e.names.ref(jid), e.names.ref(n.Path)
	if bid != "" {
		row.at, row.in = e.names.ref(bid), int8(slices.Index(newqueue.BatchFolders, folder))+1
	}
	if n.ACL != nil {
		i := slices.IndexFunc(e.acls, func(acl []znode.ACL) bool { return slices.Equal(acl, n.ACL) })
		switch {
		case i >= 0:
		case len(e.acls) < maxACLs:
			i, e.acls = len(e.acls), append(e.acls, n.ACL)
		default:
			row.incomplete = true
		}
		row.acl = int8(i + 1)
	}
	switch i := slices.Index(e.epochs, n.Stat.Czxid>>32); {
	case i >= 0:
		row.epoch = uint8(i)
	case len(e.epochs) < maxEpochs:
		row.epoch, e.epochs = uint8(len(e.epochs)), append(e.epochs, n.Stat.Czxid>>32)
	default:
		row.incomplete = true
	}
	e.rows = append(e.rows, row)
}

// How many different ACLs and epochs are remembered. All znodes of a run have one ACL,
// and all transactions of an ensemble's leader have one epoch.
const (
	maxACLs   = 100
	maxEpochs = 200
)

// entryOf splits the path of an entry. bid is "" for an entry in the queue of a state.
// jid is "" if the name is not an entry's.
func entryOf(path string) (jid, bid string, folder newqueue.BatchFolder) {
	above := znode.Parent(path)
	name := znode.Name(path)
	if znode.Within(path, newqueue.JobStatesPath) {
		_, jid, _ = strings.Cut(name, "-")
		return jid, "", ""
	}
	return name, znode.Name(znode.Parent(znode.Parent(above))), newqueue.BatchFolder(znode.Name(above))
}

// isUnchanged reports whether an entry is still as a run created it.
func isUnchanged(n *znode.Node) bool {
	s := n.Stat
	s.Ctime, s.Mtime = 0, 0
	return n.Data != nil && len(n.Data) == 0 && n.Unreadable == "" && s == entryStat(s.Czxid)
}

func entryStat(czxid int64) znode.Stat { return znode.Stat{Czxid: czxid, Mzxid: czxid, Pzxid: czxid} }

// sort sorts the rows.
func (e *entryRows) sort() {
	slices.SortStableFunc(e.rows, func(a, b entryRow) int { return e.names.compare(a.jid, b.jid) })
}

// of returns a job's rows.
func (e *entryRows) of(jid string) []entryRow {
	r, known := e.names.find(jid)
	if !known {
		return nil
	}
	at, _ := slices.BinarySearchFunc(e.rows, r, func(row entryRow, r ref) int { return e.names.compare(row.jid, r) })
	end := at
	for end < len(e.rows) && e.rows[end].jid == r {
		end++
	}
	return e.rows[at:end]
}

// paths are the paths of a job's entries.
func (e *entryRows) paths(jid string) (paths []string) {
	for _, row := range e.of(jid) {
		paths = append(paths, e.path(row))
	}
	return paths
}

func (e *entryRows) path(row entryRow) string {
	if row.in == 0 {
		return e.names.text(row.at)
	}
	return newqueue.BatchEntryPath(e.names.text(row.at), newqueue.BatchFolders[row.in-1], e.names.text(row.jid))
}

// node is the znode of an entry that is as a run created it.
func (e *entryRows) node(row entryRow) znode.Node {
	n := znode.Node{Path: e.path(row), Data: none, Stat: entryStat(e.epochs[row.epoch]<<32 | int64(row.czxidLow))}
	if row.acl > 0 {
		n.ACL = e.acls[row.acl-1]
	}
	return n
}
