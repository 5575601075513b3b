package layout

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"mrtq/internal/znode"
)

// Limits of inflating: a few bytes of zlib can inflate to gigabytes.
const (
	maxShard   = 1_000_000 // bytes of a shard
	maxInflate = 32 << 20  // bytes that a blob may inflate to
)

var errBomb = errors.New("it inflates to too much")

func inflate(data []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	out, err := io.ReadAll(io.LimitReader(z, maxInflate+1))
	if err != nil {
		return nil, err
	}
	if len(out) > maxInflate {
		return nil, errBomb
	}
	return out, nil
}

func isZlib(data []byte) bool {
	return len(data) > 1 && data[0] == 0x78 && (uint(data[0])<<8|uint(data[1]))%31 == 0
}

func (r *CodecInput) inflated(data []byte) ([]byte, bool) {
	out, err := inflate(data)
	switch {
	case errors.Is(err, errBomb):
		r.Fault(BlobTooLarge, fmt.Sprintf("a blob that inflates to at most %d bytes", maxInflate), fmt.Sprintf("%d bytes that inflate to more", len(data)))
	case err != nil:
		r.Fault(CorruptBlob, "a blob that zlib can inflate", fmt.Sprintf("%s: %v", show(data), err))
	default:
		return out, true
	}
	return nil, false
}

func readZlibJSON(r *CodecInput) (any, bool) {
	data := r.Data
	if isZlib(data) {
		var ok bool
		if data, ok = r.inflated(data); !ok {
			return nil, false
		}
	}
	return r.parse(data)
}

func readShardedJSON(r *CodecInput) (any, bool) {
	data, ok := r.joined()
	if !ok {
		return nil, false
	}
	return r.parse(data)
}

func readShardedBytes(r *CodecInput) (any, bool) {
	r.joined()
	return nil, false
}

// joined returns the blob that the shards make up. ok is false if there are no
// shards, or if a fault was reported.
func (r *CodecInput) joined() ([]byte, bool) {
	readNone(r)
	shards, whole := r.shards()
	if len(shards) == 0 && !r.Node.MayBeEmpty {
		r.Fault(EmptyBlob, "at least one shard", "none: it is being written again, or lost")
	}
	if len(shards) == 0 || !whole {
		return nil, false
	}
	// The older format compresses each shard. The newer one compresses the whole
	// blob.
	if each := len(shards) > 1 && isZlib(shards[1]); each {
		if _, err := inflate(shards[1]); err == nil {
			var all []byte
			var sizes []int
			for _, s := range shards {
				part, ok := r.inflated(s)
				if !ok {
					return nil, false
				}
				sizes = append(sizes, len(part))
				if all = append(all, part...); len(all) > maxInflate {
					r.Fault(BlobTooLarge, fmt.Sprintf("a blob that inflates to at most %d bytes", maxInflate), fmt.Sprintf("%d shards that inflate to more", len(shards)))
					return nil, false
				}
			}
			r.full(sizes, slices.Max(sizes))
			return all, true
		}
	}
	var sizes []int
	for _, s := range shards {
		sizes = append(sizes, len(s))
	}
	r.full(sizes, maxShard)
	all := slices.Concat(shards...)
	if !isZlib(all) {
		r.Fault(CorruptBlob, "a blob that zlib can inflate", show(all))
		return nil, false
	}
	return r.inflated(all)
}

func (r *CodecInput) full(sizes []int, want int) {
	for i, size := range sizes[:len(sizes)-1] {
		if size < want {
			r.Fault(ShortShard, fmt.Sprintf("%d bytes in every shard but the last one", want), fmt.Sprintf("%d in shard %010d", size, i))
		}
	}
}

// shards are the data of a blob's shards, in order. whole is false if some are
// missing.
func (r *CodecInput) shards() (shards [][]byte, whole bool) {
	whole = true
	for _, name := range r.parts.Children(r.Path) {
		path := znode.Join(r.Path, name)
		n := r.parts.Get(path)
		number, err := strconv.Atoi(name)
		if err != nil || len(name) != 10 || len(r.parts.Children(path)) > 0 {
			r.c.fault(r.Node, BadShard, path, "a shard: ten digits, with nothing below it", show([]byte(name)))
			continue
		}
		if missing := len(shards); whole && number != missing {
			r.Fault(MissingShard, fmt.Sprintf("shard %010d", missing), "shard "+name+" comes next")
			whole = false
		}
		if owner := n.Stat.EphemeralOwner; owner != 0 {
			r.c.fault(r.Node, "not-persistent", path, "a shard that is persistent", fmt.Sprintf("it is ephemeral, and ends with session %#x", owner))
		}
		if len(n.Data) > maxShard {
			r.c.fault(r.Node, ShardTooLarge, path, fmt.Sprintf("at most %d bytes", maxShard), fmt.Sprintf("%d bytes", len(n.Data)))
		}
		shards = append(shards, n.Data)
	}
	return shards, whole
}
