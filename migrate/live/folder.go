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
	// watchable is the largest number of children of a folder that is watched. Setting
	// the watch again means listing the children.
	watchable = 1000
	// listable is the largest number of children of a folder that is listed.
	listable = 1_000_000
	// listedPerSecond limits how often a large folder that changes is listed: one with
	// 100,000 children is listed every 10 seconds.
	listedPerSecond = 10_000
)

// folder is what is known of a znode with children. It reads again only what has
// changed.
type folder struct {
	path string
	// age returns a key that sorts names by age, the oldest first, or "" for a name
	// that does not count. nil: the oldest is not needed.
	age  func(name string) string
	keep int // how many of the first names are kept; 0: the children are only counted

	stat   znode.Stat // zero if the znode does not exist
	watch  zkconn.Watch
	fresh  bool     // whether the last look listed it
	first  []string // the first names in byte order
	last   []string // the last names
	oldest string   // the oldest name

	listed  znode.Stat  // before the last list
	at      time.Time   // of the last list
	refused *znode.Stat // when the server refused to list it

	// What was read of the children that the last list named.
	entry *Entry // the oldest
	locks []Lock
	holds []Hold
}

func (f *folder) there() bool { return f.stat.Czxid != 0 || f.stat.Ctime != 0 }

// way is how a folder is read.
type way int

const (
	count     way = iota // only its Stat
	list                 // its Stat and its children's names
	listWatch            // the same, and a watch is set
)

// choose decides how to read a folder with this Stat now.
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

// unlisted says why the names are not known, or "" if they are.
func (f *folder) unlisted() string {
	switch {
	case f.refused != nil:
		return "no permission to list it"
	case f.stat.NumChildren > listable:
		return "too many to be listed"
	}
	return ""
}

// look brings the folder up to date. It sends no request while a watch is set and
// has not fired.
func (f *folder) look(ctx context.Context, r *zkconn.Reader, now time.Time) error {
	f.fresh = false
	if f.watch.Set() && !f.watch.Fired() {
		return nil
	}
	f.watch = zkconn.Watch{}
	if f.there() && f.choose(f.stat, now) == listWatch { // it was small, so it probably still is
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
		f.watch = zkconn.Watch{} // the znode was created between the two requests
	}
	f.stat = stat
	switch f.choose(stat, now) {
	case listWatch:
		_, err = f.listAndWatch(ctx, r, now)
	case list:
		var names []string
		names, err = r.Children(ctx, f.path)
		err = f.keepList(names, stat, now, err)
	}
	return err
}

// listAndWatch lists the folder and sets a watch. done is false if the server refuses
// or the znode does not exist.
func (f *folder) listAndWatch(ctx context.Context, r *zkconn.Reader, now time.Time) (done bool, err error) {
	names, stat, watch, err := r.ChildrenW(ctx, f.path)
	if err == nil {
		f.stat, f.watch = stat, watch
	}
	return err == nil, f.keepList(names, f.stat, now, err)
}

// keepList keeps what is needed of a list of names. err is the error of listing: if
// the permission was missing, keepList notes that; if the folder was just deleted,
// the next look finds out.
func (f *folder) keepList(names []string, stat znode.Stat, now time.Time, err error) error {
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

// oldest returns the name with the lowest age, or "" if there is none.
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
