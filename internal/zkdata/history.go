package zkdata

import (
	"context"
	"errors"
	"fmt"
	"io"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
	"mrtq/internal/ztree"
)

// history restores a tree: it starts with a snapshot and applies one
// transaction after the other.
//
// A snapshot is named after the last transaction before the server began to
// write it, and the server changes the tree meanwhile. So a snapshot is a
// mixture. Only the later transactions turn it into a tree that the server once
// had. Each is applied again, whether or not its changes are in the snapshot.
// Until the last of them the tree is unsettled, and a transaction may find that
// its changes are already there. After that it may not.
type history struct {
	snapshot string // the snapshot's file, for errors; "" if there is none
	tree     *ztree.Tree
	start    int64    // zxid of the snapshot
	last     ztree.Tx // the last transaction that was applied
	inLogs   bool     // whether the logs have transaction start

	settled bool
	// least is a transaction of which the snapshot has all or some changes. The tree isn't settled
	// before it. After it the tree is settled if known is set: the server wrote at the snapshot's
	// end which transaction was the last one. Servers since 3.6 do, at least with the digest.
	least    int64
	known    bool
	digest   *treeDigest // the snapshot's
	mismatch error       // the first digest that differed, if none has been equal since
	say      func(string)
}

// begin makes the history of a snapshot, or of a new server if the snapshot is
// nil.
func begin(snap *snapshot, say func(string)) *history {
	if snap == nil {
		return &history{tree: ztree.New(), settled: true, say: say}
	}
	h := &history{snapshot: snap.path, tree: snap.tree, digest: snap.digest, start: snap.zxid, last: ztree.Tx{Zxid: snap.zxid}, say: say}
	// A znode can show a later transaction than the file's name, because the server
	// goes on while it writes.
	h.least = max(snap.zxid, snap.tree.Zxid(), snap.finished)
	h.known = snap.finished >= snap.zxid // an older one says nothing about the snapshot
	h.settle()
	return h
}

// settle is called when all transactions up to h.last have been applied.
func (h *history) settle() {
	h.settled = h.settled || h.known && h.last.Zxid >= h.least
	h.compare(h.snapshot, -1, h.digest)
}

// compare compares the tree with the digest that the server wrote for transaction h.last. A server
// computes the digest of a transaction before it applies it, and is sometimes wrong: it expects a
// container from a create with the container flag. So a different digest counts only if no later one is
// equal. If it is not known when the tree is settled, the first equal digest shows that it is.
func (h *history) compare(file string, at int64, d *treeDigest) {
	if d == nil || d.zxid != h.last.Zxid || h.last.Zxid < h.least {
		return
	}
	have, _ := h.tree.Digest()
	switch {
	case have == d.value:
		h.settled, h.mismatch = true, nil
	case h.mismatch == nil:
		h.mismatch = &Error{Kind: ErrDigest, File: file, Offset: at, Do: readAnother,
			What: fmt.Sprintf("after transaction %s the tree's digest is %x, and the server's was %x: transactions before it are missing, or what was read is not what the server had", zx(d.zxid), have, d.value)}
	}
}

// replay applies all transactions of the logs that come after the snapshot.
func (h *history) replay(ctx context.Context, logs []dataFile, progress func(int)) error {
	var t transaction
	for i, file := range logs {
		l, err := openLog(file)
		if errors.Is(err, errEmpty) {
			if i == len(logs)-1 {
				break // the server was killed when it created the file, and will remove it
			}
			return &Error{Kind: ErrCorrupt, File: file.path, Offset: 0, What: "it is empty, and " + logs[i+1].path + " follows", Do: readAnother}
		}
		if err != nil {
			return err
		}
		err = h.replayLog(ctx, l, &t, progress)
		l.close()
		if err != nil {
			return err
		}
	}
	return h.finish()
}

func (h *history) replayLog(ctx context.Context, l *logFile, t *transaction, progress func(int)) error {
	for n := 0; ; n++ {
		if n%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			progress(h.tree.Count())
		}
		entry, at, err := l.next()
		if err == io.EOF {
			if l.torn >= 0 {
				h.say(fmt.Sprintf("%s ends inside a transaction, at byte %d: it is ignored, as a server would ignore it; the last complete one is %s", l.path, l.torn, zx(l.last)))
			}
			return nil
		}
		if err != nil {
			return err
		}
		if n == 0 && l.last != l.zxid {
			return l.damaged(at, fmt.Sprintf("its first transaction is %s, and its name says %s", zx(l.last), zx(l.zxid)))
		}
		if l.last <= h.start {
			h.inLogs = h.inLogs || l.last == h.start
			continue
		}
		if err := parseTransaction(entry, t); err != nil {
			return l.damaged(at, err.Error())
		}
		if err := h.take(l, at, t); err != nil {
			return err
		}
	}
}

// take applies a transaction.
func (h *history) take(l *logFile, at int64, t *transaction) error {
	if t.Zxid <= h.last.Zxid {
		if t.Op == jute.OpError {
			return nil // a request that the server could not read has no zxid
		}
		return l.damaged(at, fmt.Sprintf("transaction %s comes after %s", zx(t.Zxid), zx(h.last.Zxid)))
	}
	if !follow(h.last.Zxid, t.Zxid) {
		return &Error{Kind: ErrGap, File: l.path, Offset: at, Do: giveLogDir,
			What: fmt.Sprintf("transaction %s comes right after %s: the transactions between them are missing", zx(t.Zxid), zx(h.last.Zxid))}
	}
	for i := range t.changes {
		if err := h.apply(t, &t.changes[i]); err != nil {
			return &Error{Kind: ErrGap, File: l.path, Offset: at, Do: readAnother,
				What: fmt.Sprintf("transaction %s (%s %q) can't be applied: %v", zx(t.Zxid), t.changes[i].Op, t.changes[i].Path, err)}
		}
	}
	h.last = ztree.Tx{Zxid: t.Zxid, Time: t.Time}
	h.settle()
	h.compare(l.path, at, t.digest)
	return nil
}

// follow reports whether a transaction can be the next one: it has the next
// number, or is the first of a later epoch.
func follow(last, next int64) bool {
	return next == last+1 || next>>32 > last>>32 && uint32(next) == 1
}

// apply applies a transaction, or a part of a multi. While the tree is
// unsettled, the snapshot may lack a znode because a later transaction deleted
// it. A server also changes what is below /zookeeper by itself.
func (h *history) apply(t *transaction, c *ztree.Change) error {
	err := h.tree.Replay(ztree.Tx{Zxid: t.Zxid, Time: t.Time}, t.Session, c)
	missing := errors.Is(err, ztree.ErrNoNode) || errors.Is(err, ztree.ErrNoParent)
	if missing && (!h.settled || znode.Within(c.Path, ztree.SystemRoot)) {
		return nil
	}
	return err
}

// finish is called after the last transaction.
func (h *history) finish() error {
	if h.last.Zxid < h.least {
		return &Error{Kind: ErrGap, File: h.snapshot, Offset: -1, Do: giveLogDir,
			What: fmt.Sprintf("it was written while the server went on to transaction %s, and the logs end with %s", zx(h.least), zx(h.last.Zxid))}
	}
	// A server writes a snapshot after the transaction that it is named after,
	// and that transaction is in a log. Only the zxid at the very beginning of an
	// epoch does not belong to a transaction.
	if h.last.Zxid == h.start && uint32(h.start) != 0 && !h.inLogs {
		return &Error{Kind: ErrGap, File: h.snapshot, Offset: -1, Do: giveLogDir + "; a member that got this snapshot from its leader can't be read before it has logged a transaction",
			What: fmt.Sprintf("no log holds its last transaction, %s, or a later one", zx(h.start))}
	}
	if h.mismatch != nil {
		if _, foreign := h.tree.Digest(); foreign > 0 {
			h.say(fmt.Sprintf("the tree's digest can't be compared: %d znodes have names that are not ASCII, and how the server hashes those depends on its platform; if logs are missing at the end of an epoch, nothing shows it", foreign))
			return nil
		}
	}
	return h.mismatch
}
