package layout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mrtq/internal/znode"
)

type reference struct {
	r        *Relation
	from, to string
}

type named struct {
	rule string
	path string
}

type waiting struct {
	r     *Relation
	path  string
	since int64
}

type aged struct {
	n     *Node
	path  string
	since int64
}

// relate applies the relations of a znode. It decides at once those that need
// only this znode. checkRelations decides the others at the end.
func (c *checker) relate(n *Node, path string, params Params, zn *znode.Node, value any, read bool) {
	if c.refers {
		c.there[path] = true
	}
	for _, r := range c.of[n] {
		if len(r.ReferencedBy) > 0 {
			if r.field != nil && len(r.field.values(value)) == 0 {
				continue
			}
			c.awaiting = append(c.awaiting, waiting{r, path, zn.Stat.Ctime})
			continue
		}
		if r.counted && !read {
			c.undecided[r.ID] = true
		}
		if r.When != nil && !(read && r.holds(value)) {
			continue
		}
		if r.field == nil && !r.usesField() {
			c.apply(r, path, params, "")
			continue
		}
		if !read {
			continue
		}
		for _, v := range r.field.values(value) {
			c.apply(r, path, params, text(v))
		}
	}
}

func (r *Relation) holds(value any) bool {
	for field, texts := range r.When {
		if !slices.ContainsFunc(parseField(field).values(value), func(v any) bool { return slices.Contains(texts, text(v)) }) {
			return false
		}
	}
	return true
}

func (r *Relation) usesField() bool {
	return strings.Contains(string(r.Refers), "{value}") || r.Same != ""
}

func (c *checker) apply(r *Relation, path string, params Params, value string) {
	fill := append(slices.Clone(params), binding{"value", value}).Get
	if r.Same != "" {
		want := r.Same.fill(fill)
		if want != value {
			c.broken(r.ID, path, cmp.Or(r.Field, "the value")+" "+show([]byte(want)), show([]byte(value)))
		}
		return
	}
	if r.like != nil && !r.like.matches(value, params) {
		c.broken(r.ID, path, cmp.Or(r.Field, "the value")+" "+r.like.words(params), show([]byte(value)))
		return
	}
	if r.Refers == "" {
		return
	}
	to := r.Refers.fill(fill)
	if znode.ValidatePath(to) != nil {
		c.broken(r.ID, path, "a path of a znode", show([]byte(to)))
		return
	}
	if r.counted {
		c.referenced[named{r.ID, to}]++
	}
	c.pending = append(c.pending, reference{r, path, to})
}

func (c *checker) checkRelations() error {
	for _, ref := range c.pending {
		if c.there[ref.to] || c.isHidden(ref.to) {
			continue
		}
		// The walk may have missed the znode: it can be outside of the map's
		// roots, or new.
		_, err := c.source.Get(c.ctx, ref.to)
		switch {
		case err == nil:
			continue
		case !errors.Is(err, znode.ErrNoNode):
			return err
		}
		c.broken(ref.r.ID, ref.from, ref.to+" is there", "it is not there")
	}
	now := c.opt.Now
	if now.IsZero() {
		now = time.UnixMilli(c.newest)
	}
	for _, w := range c.awaiting {
		times, decided := 0, len(c.hidden) == 0
		for _, id := range w.r.ReferencedBy {
			decided = decided && !c.undecided[id]
			times += c.referenced[named{id, w.path}]
		}
		age := now.Sub(time.UnixMilli(w.since))
		switch {
		case w.r.AtMost > 0 && times > w.r.AtMost:
			c.broken(w.r.ID, w.path, fmt.Sprintf("a znode that is named at most %d times", w.r.AtMost), fmt.Sprintf("it is named %d times", times))
		case w.r.AtMost == 0 && times == 0 && decided && (w.r.Younger == 0 || age >= w.r.Younger):
			c.broken(w.r.ID, w.path, "a znode that names it", fmt.Sprintf("none does, and it is %s old", age))
		}
	}
	for _, a := range c.aged {
		if age := now.Sub(time.UnixMilli(a.since)).Truncate(time.Second); age > a.n.Oldest {
			c.fault(a.n, TooOld, a.path, fmt.Sprintf("a znode that is not older than %s", a.n.Oldest), fmt.Sprintf("it is %s old", age))
		}
	}
	for _, rules := range c.goRules {
		if rules.Done != nil {
			rules.Done(now)
		}
	}
	return c.ctx.Err()
}

// fieldPath leads to values inside JSON: keys with dots between them, and [] for
// every element of an array. The empty path is the value itself.
type fieldPath []string

func parseField(text string) fieldPath {
	if text == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "."), "[]", ".[]"), ".")
}

// values are the values in v at the path. null and missing values don't count.
func (f fieldPath) values(v any) []any {
	if v == nil {
		return nil
	}
	if len(f) == 0 {
		return []any{v}
	}
	switch f[0] {
	case "":
		return f[1:].values(v)
	case "[]":
		var all []any
		switch c := v.(type) {
		case []any:
			for _, e := range c {
				all = append(all, f[1:].values(e)...)
			}
		case map[string]any:
			for _, e := range c {
				all = append(all, f[1:].values(e)...)
			}
		}
		return all
	}
	if o, ok := v.(map[string]any); ok {
		return f[1:].values(o[f[0]])
	}
	return nil
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return fmt.Sprintf("%T", v)
}
