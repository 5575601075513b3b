package services

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// storageLocks tells a storage lock that a service needs now from one that a killed service has left. Both are persistent: Store
// keeps the lock until its job has moved on and is unlocked (docs/deployed-services.md, "Locks").
type storageLocks struct {
	locks   []znode.Node
	working map[string][]worked // jobs that a session has locked, by the lock on their object; "" for those that Process or Store has and that name none yet
	moved   map[string]moved    // the last job that has moved on from Store, by the lock on its object
}

// worked is a job that a session has locked, and the transaction in which it did.
type worked struct {
	job      string
	lockedAt int64
}

type moved struct {
	job string
	at  int64
}

func newStorageLocks() storageLocks {
	return storageLocks{working: map[string][]worked{}, moved: map[string]moved{}}
}

func (s *storageLocks) job(it *Item) {
	locks := locksOf(it)
	for _, lock := range locks {
		if (it.state == "Recording" || it.state == "Failed") && s.moved[lock].at < it.changed {
			s.moved[lock] = moved{it.Path, it.changed}
		}
	}
	if len(locks) == 0 && (it.state == "Processing" || it.state == "Storing") {
		locks = []string{""}
	}
	for _, lock := range locks {
		if it.locked {
			s.working[lock] = append(s.working[lock], worked{it.Path, it.lockedAt})
		}
	}
}

// locksOf returns the storage locks on the object that a job names: where Store reads it, and among its identifiers.
func locksOf(it *Item) (locks []string) {
	arks := []string{it.text("identifiers", "primary_id")}
	if part := strings.Split(it.text("store", "mode"), "/"); len(part) > 2 { // add/NODE/ARK
		ark, _ := url.QueryUnescape(part[2])
		arks = append(arks, ark)
	}
	for _, ark := range arks {
		if ark != "" {
			locks = append(locks, newqueue.StorageLock(ark).Path(newqueue.MrtZK))
		}
	}
	return locks
}

// oldest is how long no service works on an object.
const oldest = 24 * time.Hour

// justNow is how long a service may take from one write to the next.
const justNow = 5 * time.Second

// judge says what a storage lock is: worth knowing, or left by a service that was killed.
func (s *storageLocks) judge(lock znode.Node, now time.Time) (layout.Severity, string) {
	const left = "a lock that outlives its session"
	if age := now.Sub(time.UnixMilli(lock.Stat.Ctime)); lock.Stat.Ctime > 0 && age > oldest {
		return layout.Error, fmt.Sprintf("%s: it is %d days old", left, int(age.Hours()/24))
	}
	for _, w := range s.working[lock.Path] {
		if w.lockedAt <= lock.Stat.Czxid {
			return layout.Info, "a service is at work on " + w.job
		}
	}
	if m, ok := s.moved[lock.Path]; ok && now.Sub(time.UnixMilli(m.at)) <= justNow {
		return layout.Info, m.job + " has just moved on"
	}
	for _, w := range s.working[lock.Path] {
		return layout.Error, fmt.Sprintf("%s: it is older than the lock of %s", left, w.job)
	}
	for _, w := range s.working[""] {
		if w.lockedAt <= lock.Stat.Czxid {
			return layout.Info, "a service is at work on " + w.job + ", which names no object yet"
		}
	}
	return layout.Error, left
}
