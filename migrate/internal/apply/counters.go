package apply

import (
	"context"
	"fmt"

	"mrtq/internal/part"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// counters give ids to new znodes. ZooKeeper numbers sequential children with a counter
// that every create below the parent advances. So a transaction can create a child by its
// name, with the number that comes next, and ZooKeeper's own numbers continue after it
// (docs/migration.md, "One job, one transaction").
type counters struct {
	of    map[string]target.Counter
	taken int // how often in a row other clients took the id
}

// name is the id of the n-th new child of a parent, counted from 0.
func (c *counters) name(parent string, n int) string {
	count := c.of[parent]
	return newqueue.SequenceID(count.Prefix, int32(count.Next+int64(n)))
}

func (c *counters) gives(path string) bool {
	_, ok := c.of[znode.Parent(path)]
	return ok
}

func (c *counters) took(ids map[string]int) {
	for parent, n := range ids {
		count := c.of[parent]
		count.Next += int64(n)
		c.of[parent] = count
	}
	if len(ids) > 0 {
		c.taken = 0
	}
}

// maxTaken is how often in a row other clients may take the next id before this migrator creates
// a znode. Each try takes two round trips. A client that submits without pause wins some
// of them, but not a thousand in a row.
const maxTaken = 1000

// catchUp reads the counter of a parent again, because another client took the next
// number. It returns errSmaller, because a smaller transaction wins sooner.
func (c *counters) catchUp(ctx context.Context, w *zkconn.Writer, parent string) error {
	if c.taken++; c.taken > maxTaken {
		return fmt.Errorf("%w: %d times in a row another client's new child of %s came first", ErrContended, c.taken, parent)
	}
	stat, there, err := w.Exists(ctx, parent)
	if err != nil {
		return err
	}
	if !there {
		return fmt.Errorf("%w: %s was removed", ErrChanged, parent)
	}
	next, _ := stat.NextSequence()
	count := c.of[parent]
	if int64(next) <= count.Next { // the number is taken although ZooKeeper has not given it
		return fmt.Errorf("%w: %s has a child that its sequence has not given", ErrChanged, parent)
	}
	count.Next = int64(next)
	c.of[parent] = count
	return errSmaller
}

const advances part.Size = 500

// AdvanceCounters moves the counters of these parents up to their lowest free number, so
// that no client gets a number that is taken. ZooKeeper counts creates, so each number
// takes one.
func (c *Chain) AdvanceCounters(ctx context.Context, parents []string) error {
	for _, parent := range parents {
		for count := c.counters.of[parent]; count.Next < count.Free; {
			var ops []znode.Op
			for ; count.Next < count.Free && len(ops) < 2*advances.N(); count.Next++ {
				path := znode.Join(parent, "mrtq-counter")
				ops = append(ops, znode.Create(path, []byte{}), znode.Delete(path, 0))
			}
			if err := c.Do(ctx, ops, func(*migration.Run) {}); err != nil {
				return err
			}
			c.counters.of[parent] = count
		}
	}
	return nil
}
