package minizk_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

func (w *world) zxid(z int64) string {
	switch {
	case z == 0 || z == -1:
		return fmt.Sprint(z)
	case z <= w.base:
		return "before"
	}
	return fmt.Sprintf("+%d", z-w.base)
}

func (w *world) owner(id int64) string {
	if id == 0 {
		return "0"
	}
	if name, ok := w.sessions[id]; ok {
		return name
	}
	return fmt.Sprintf("%#x", id)
}

func set(ms int64) string {
	if ms > 0 {
		return "set"
	}
	return fmt.Sprint(ms)
}

func (w *world) stat(s znode.Stat) string {
	mtime := set(s.Mtime)
	if s.Czxid == s.Mzxid && s.Ctime != s.Mtime {
		mtime = "differs"
	}
	return fmt.Sprintf("{c %s m %s p %s ctime %s mtime %s v %d cv %d av %d owner %s len %d kids %d}",
		w.zxid(s.Czxid), w.zxid(s.Mzxid), w.zxid(s.Pzxid), set(s.Ctime), mtime,
		s.Version, s.Cversion, s.Aversion, w.owner(s.EphemeralOwner), s.DataLength, s.NumChildren)
}

func end(d *jute.Decoder) error {
	if d.Err() == nil && d.Len() > 0 {
		return fmt.Errorf("%d bytes follow the record", d.Len())
	}
	return d.Err()
}

func (w *world) event(p rawPacket) string {
	d := jute.NewDecoder(p.Body)
	e := d.WatcherEvent()
	if err := end(d); err != nil {
		return fmt.Sprintf("unreadable (%v) %x", err, p.Body)
	}
	kind := map[int32]string{jute.EventCreated: "created", jute.EventDeleted: "deleted", jute.EventDataChanged: "changed", jute.EventChildrenChanged: "children"}[e.Type]
	return fmt.Sprintf("%s %s (state %d, zxid %d, err %d)", kind, e.Path, e.State, p.Zxid, p.Err)
}

// reply writes a reply's header and record. It shows a record that can't be decoded as bytes.
func (w *world) reply(op jute.OpCode, p rawPacket) string {
	head := fmt.Sprintf("zxid %s %s", w.zxid(p.Zxid), p.Err)
	d := jute.NewDecoder(p.Body)
	body := ""
	if len(p.Body) > 0 {
		body = w.record(op, d)
	}
	if err := end(d); err != nil {
		return fmt.Sprintf("%s record %s (%v)", head, hex.EncodeToString(p.Body), err)
	}
	return strings.TrimSpace(head + " " + body)
}

func (w *world) record(op jute.OpCode, d *jute.Decoder) string {
	switch op {
	case jute.OpCreate:
		return d.String("path")
	case jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL:
		return d.String("path") + " " + w.stat(d.Stat())
	case jute.OpExists, jute.OpSetData, jute.OpSetACL:
		return w.stat(d.Stat())
	case jute.OpGetData:
		return data(d.Buffer("data")) + " " + w.stat(d.Stat())
	case jute.OpGetChildren, jute.OpGetEphemerals:
		return w.names(d)
	case jute.OpGetChildren2:
		return w.names(d) + " " + w.stat(d.Stat())
	case jute.OpGetACL:
		return aclText(d.ACLs()) + " " + w.stat(d.Stat())
	case jute.OpGetAllChildrenNumber, jute.OpAddWatch:
		return fmt.Sprint(d.Int("n"))
	case jute.OpSync, jute.OpSasl:
		return data(d.Buffer("path"))
	case jute.OpMulti, jute.OpMultiRead:
		return w.results(d)
	case jute.OpWhoAmI:
		var ids []string
		for range d.Int("count") {
			ids = append(ids, d.String("scheme")+":"+d.String("user"))
		}
		slices.Sort(ids) // a set, in the order of a hash table
		return fmt.Sprint(ids)
	}
	return ""
}

func (w *world) names(d *jute.Decoder) string {
	names := d.Strings("names")
	slices.Sort(names) // a set, in the order of a hash table
	return fmt.Sprint(names)
}

func data(b []byte) string {
	if b == nil {
		return "null"
	}
	if len(b) > 40 {
		return fmt.Sprintf("%d bytes", len(b))
	}
	return fmt.Sprintf("%q", b)
}

func (w *world) results(d *jute.Decoder) string {
	var out []string
	for h := d.MultiHeader(); !h.Done && d.Err() == nil; h = d.MultiHeader() {
		s := h.Op.String() + " "
		if h.Op == jute.OpError {
			s += jute.Code(d.Int("err")).Error()
		} else {
			s += strings.TrimSpace(h.Err.Error() + " " + w.record(h.Op, d))
		}
		out = append(out, s)
	}
	return "[" + strings.Join(out, "; ") + "]"
}
