package live

import (
	"context"
	"errors"
	"slices"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

const (
	// watchable is how many children a folder may have to be watched: to set the
	// watch again, its children have to be listed.
	watchable = 1000
	// listable is how many it may have to be listed at all.
	listable = 1_000_000
	// listedPerSecond spaces the lists of a larger folder that changes: a list of
	// 100,000 names is made every 10 seconds.
	listedPerSecond = 10_000
)

// folder is what is known of a znode with children, and how to learn no more of
// it than has changed.
type folder struct {
	path string
	// age orders names by age, the oldest first; "" is no name that counts. nil:
	// nobody asks for the oldest.
	age  func(name string) string
	keep int // how many of the first names are kept; none: it is only counted

	stat   znode.Stat // zero if it is not there
	watch  zkconn.Watch
	fresh  bool     // listed by the last look
	first  []string // in byte order
	last   []string
	oldest string

	listed  znode.Stat  // before the last list
	at      time.Time   // of the last list
	refused *znode.Stat // when a list was refused

	// What was read of the children that the last list named.
	entry *Entry // the oldest
	locks []Lock
	holds []Hold
}

func (f *folder) there() bool { return f.stat.Czxid != 0 || f.stat.Ctime != 0 }

// way is how a folder is looked at.
type way int

const (
	count     way = iota // its Stat is all
	list                 // its children too
	listWatch            // and it is watched
)

// choose decides how a folder with this Stat is to be looked at now.
func (f *folder) choose(stat znode.Stat, now time.Time) way {
	n := int(stat.NumChildren)
	switch {
	case f.refused != nil && f.refused.Czxid == stat.Czxid && f.refused.Aversion == stat.Aversion:
		return count // it would be refused again
	case n <= watchable:
		return listWatch
	case f.keep == 0, n > listable, stat.Czxid == f.listed.Czxid && stat.Pzxid == f.listed.Pzxid:
		return count
	case now.Sub(f.at) < time.Duration(n)*time.Second/listedPerSecond:
		return count
	}
	return list
}

// unlisted is why the names are not known, "" if they are.
func (f *folder) unlisted() string {
	switch {
	case f.refused != nil:
		return "no permission to list it"
	case f.stat.NumChildren > listable:
		return "too many to be listed"
	}
	return ""
}

// look brings the folder up to date. Nothing is asked while a watch says that
// nothing has changed.
func (f *folder) look(ctx context.Context, r *zkconn.Reader, now time.Time) error {
	f.fresh = false
	if f.watch.Set() && !f.watch.Fired() {
		return nil
	}
	f.watch = zkconn.Watch{}
	if f.there() && f.choose(f.stat, now) == listWatch { // as likely as not it is still small
		if done, err := f.listAndWatch(ctx, r, now); done || err != nil {
			return err
		}
	}
	stat, there, err := r.Exists(ctx, f.path)
	if err != nil {
		return err
	}
	if !there {
		f.forget()
		if stat, there, f.watch, err = r.ExistsW(ctx, f.path); err != nil || !there {
			return err
		}
		f.watch = zkconn.Watch{} // it has come meanwhile
	}
	f.stat = stat
	switch f.choose(stat, now) {
	case listWatch:
		_, err = f.listAndWatch(ctx, r, now)
	case list:
		var names []string
		names, err = r.Children(ctx, f.path)
		err = f.took(names, stat, now, err)
	}
	return err
}

// listAndWatch lists the folder and watches it; done is false if that can't be.
func (f *folder) listAndWatch(ctx context.Context, r *zkconn.Reader, now time.Time) (done bool, err error) {
	names, stat, watch, err := r.ChildrenW(ctx, f.path)
	if err == nil {
		f.stat, f.watch = stat, watch
	}
	return err == nil, f.took(names, f.stat, now, err)
}

// took notes a list, or that there is none: without permission, or because the
// folder has just gone, it is looked at again as it then is.
func (f *folder) took(names []string, stat znode.Stat, now time.Time, err error) error {
	switch {
	case errors.Is(err, znode.ErrNoNode):
		return nil
	case errors.Is(err, zkconn.ErrNoAuth):
		*f = folder{path: f.path, age: f.age, keep: f.keep, stat: stat, refused: &stat}
		return nil
	case err != nil:
		return err
	}
	slices.Sort(names)
	f.listed, f.at, f.fresh, f.refused = stat, now, true, nil
	f.first = slices.Clone(names[:min(f.keep, len(names))])
	f.last = slices.Clone(names[max(len(f.first), len(names)-f.keep):])
	f.oldest = oldest(names, f.age)
	return nil
}

func (f *folder) forget() {
	*f = folder{path: f.path, age: f.age, keep: f.keep}
}

// oldest is the name that is first by age.
func oldest(names []string, age func(string) string) string {
	first, of := "", ""
	if age == nil {
		return ""
	}
	for _, name := range names {
		if a := age(name); a != "" && (first == "" || a < first) {
			first, of = a, name
		}
	}
	return of
}
