package source

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"

	"mrtq/internal/part"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/migration"
)

// Fetched is a record as it was read.
type Fetched struct {
	migration.Record
	There bool     // false if it has been removed since it was listed; then only the path is set
	Below []string // paths of znodes below it; a record has none
	Stat  znode.Stat
	ACL   []znode.ACL // nil without [Source.WithACLs]
}

const window part.Size = 128

// Fetch reads and decodes the records at paths, in their order. Reading goes on while the
// caller uses what was read.
func (s *Source) Fetch(ctx context.Context, paths iter.Seq[string]) iter.Seq2[Fetched, error] {
	return Prefetch(ctx, func(ctx context.Context, send func([]Fetched) error) error { return s.fetchWindows(ctx, paths, send) })
}

// Prefetch yields the items of the parts that produce sends. While the caller uses one part, produce makes the next ones. Its context ends
// when the caller wants no more.
func Prefetch[T any](ctx context.Context, produce func(ctx context.Context, send func([]T) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		parts := make(chan []T, 2)
		var failed error // why produce ended; set before parts is closed
		go func() {
			defer close(parts)
			failed = produce(ctx, func(part []T) error {
				select {
				case parts <- part:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			})
		}()
		defer func() {
			cancel()
			for range parts { // until produce has ended
			}
		}()
		for part := range parts {
			for _, item := range part {
				if !yield(item, nil) {
					return
				}
			}
		}
		if failed != nil {
			var none T
			yield(none, failed)
		}
	}
}

func (s *Source) fetchWindows(ctx context.Context, paths iter.Seq[string], send func([]Fetched) error) error {
	subs := make([]zkconn.Subtree, 0, window.N())
	flush := func() error {
		err := send(s.decode(subs))
		subs = subs[:0]
		return err
	}
	for sub, err := range s.r.Subtrees(ctx, paths) {
		if err != nil {
			return errors.Join(flush(), err)
		}
		if subs = append(subs, sub); len(subs) == window.N() {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func (s *Source) decode(subs []zkconn.Subtree) []Fetched {
	decoded := make([]Fetched, len(subs))
	each := max(1, (len(subs)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var cores sync.WaitGroup
	for start := 0; start < len(subs); start += each {
		cores.Go(func() {
			for i := start; i < min(start+each, len(subs)); i++ {
				decoded[i] = s.decodeOne(subs[i])
			}
		})
	}
	cores.Wait()
	return decoded
}

func (s *Source) decodeOne(sub zkconn.Subtree) Fetched {
	record, kept := s.kept[sub.Root]
	if !kept {
		record = sub.Root
	}
	f := Fetched{Record: migration.Record{Path: record, Queue: s.Kind(record)}}
	if sub.Missing() {
		return f
	}
	node := sub.Nodes[0]
	node.Path = record
	f.There, f.Stat, f.ACL = true, node.Stat, node.ACL
	f.Record = decodeRecord(f.Queue, node, s.Options)
	for _, n := range sub.Nodes[1:] {
		f.Below = append(f.Below, n.Path)
	}
	return f
}

func decodeRecord(kind migration.QueueKind, n znode.Node, opt legacy.Options) migration.Record {
	r := migration.Record{Path: n.Path, Queue: kind, Data: n.Data}
	if n.Unreadable != "" {
		r.Err = &legacy.Error{Kind: migration.Unreadable, Offset: -1, Msg: n.Unreadable}
		return r
	}
	rec, err := legacy.Decode(znode.Name(n.Path), r.Data, opt)
	if err == nil {
		r.Legacy = rec
	} else if !errors.As(err, &r.Err) {
		r.Err = &legacy.Error{Kind: legacy.BadPayload, Offset: -1, Err: err}
	}
	return r
}

// FetchKept is [Source.Fetch] for records that were handed over: their bytes are read at these paths on the
// server. kept has the record of each path.
func (s *Source) FetchKept(ctx context.Context, paths iter.Seq[string], kept map[string]string) iter.Seq2[Fetched, error] {
	other := *s
	other.r, other.kept = s.r.WithChroot("/"), kept
	return other.Fetch(ctx, paths)
}
