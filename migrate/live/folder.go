package live

import (
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/newqueue"
)

// folder is a znode whose children a look counts and lists.
type folder struct {
	path string
	keep int // how many names are kept of either end of the list
	// id is the job, batch or request that a name stands for, "" if for none; of is its
	// znode. Both are nil for a folder of locks, holds, runs or migrators.
	id, of func(string) string
	locks  LockKind // of its children; "" if they are not looked for
}

// documented are the states of both dialects, because mrt-zk has all states that
// design has.
var documented = newqueue.MrtZK.JobStates()

var (
	runs     = folder{path: ledger.RunsPath, keep: locksListed}
	migrants = folder{path: ledger.ElectionPath, keep: candidates}
	batches  = folder{path: newqueue.BatchesPath, keep: locksTried, id: sequence(newqueue.BatchPrefix), of: newqueue.BatchPath, locks: LockBatch}
	holds    = []folder{{path: newqueue.QueueLocksPath, keep: locksListed}, {path: newqueue.CollectionLocksPath, keep: locksListed}}
	// The dialect decides where the locks on local ids are.
	locks = []folder{
		{path: newqueue.StorageLocksPath, keep: locksListed, locks: LockStorage},
		{path: newqueue.InventoryLocksPath, keep: locksListed, locks: LockInventory},
		{path: newqueue.Design.LocalIDLocksPath(), keep: locksListed, locks: LockLocalID},
		{path: newqueue.MrtZK.LocalIDLocksPath(), keep: locksListed, locks: LockLocalID},
	}
)

// jobs is the folder of a state. No worker locks a job that is completed or deleted.
func jobs(state string) folder {
	f := folder{path: znode.Join(newqueue.JobStatesPath, state), keep: locksTried, id: jobOf, of: newqueue.JobPath, locks: LockJob}
	if state == string(newqueue.JobCompleted) || state == string(newqueue.JobDeleted) {
		f.locks = ""
	}
	return f
}

func access(q newqueue.AccessQueue) folder {
	return folder{path: newqueue.AccessQueuePath(q), keep: locksTried, id: sequence(newqueue.AccessPrefix), locks: LockAccess,
		of: func(qid string) string { return newqueue.AccessRequestPath(q, qid) }}
}

// sequence returns a function that returns a name unchanged if ZooKeeper made it
// from the prefix and a number, and "" for any other name.
func sequence(prefix string) func(name string) string {
	return func(name string) string {
		if _, ok := newqueue.ParseSequenceID(prefix, name); !ok {
			return ""
		}
		return name
	}
}

// jobOf returns the JID of an entry PP-JID in a state's folder, or "" for any other
// name.
func jobOf(entry string) string {
	_, jid, _ := strings.Cut(entry, "-")
	return sequence(newqueue.JobPrefix)(jid)
}
