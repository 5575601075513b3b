package minizk_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"mrtq/harness/internal/rawzk"
	"mrtq/harness/minizk/wire"
)

// zxid writes a transaction id relative to the scenario's beginning.
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

func (w *world) stat(s wire.Stat) string {
	mtime := set(s.Mtime)
	if s.Czxid == s.Mzxid && s.Ctime != s.Mtime {
		mtime = "differs"
	}
	return fmt.Sprintf("{c %s m %s p %s ctime %s mtime %s v %d cv %d av %d owner %s len %d kids %d}",
		w.zxid(s.Czxid), w.zxid(s.Mzxid), w.zxid(s.Pzxid), set(s.Ctime), mtime,
		s.Version, s.Cversion, s.Aversion, w.owner(s.EphemeralOwner), s.DataLength, s.NumChildren)
}

func (w *world) event(p rawzk.Packet) string {
	d := wire.NewDecoder(p.Body)
	e := d.WatcherEvent()
	if err := d.End(); err != nil {
		return fmt.Sprintf("unreadable (%v) %x", err, p.Body)
	}
	kind := map[int32]string{wire.EventCreated: "created", wire.EventDeleted: "deleted", wire.EventDataChanged: "changed", wire.EventChildrenChanged: "children"}[e.Type]
	return fmt.Sprintf("%s %s (state %d, zxid %d, err %d)", kind, e.Path, e.State, p.Zxid, p.Err)
}

// reply writes a reply's header and record. It shows a record that can't be decoded as bytes.
func (w *world) reply(op wire.OpCode, p rawzk.Packet) string {
	head := fmt.Sprintf("zxid %s %s", w.zxid(p.Zxid), p.Err)
	d := wire.NewDecoder(p.Body)
	body := w.record(op, p, d)
	if err := d.End(); err != nil {
		return fmt.Sprintf("%s record %s (%v)", head, hex.EncodeToString(p.Body), err)
	}
	return strings.TrimSpace(head + " " + body)
}

func (w *world) record(op wire.OpCode, p rawzk.Packet, d *wire.Decoder) string {
	if len(p.Body) == 0 {
		return ""
	}
	switch op {
	case wire.OpCreate:
		return d.String("path")
	case wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL:
		return d.String("path") + " " + w.stat(d.Stat())
	case wire.OpExists, wire.OpSetData, wire.OpSetACL:
		return w.stat(d.Stat())
	case wire.OpGetData:
		return data(d.Buffer("data")) + " " + w.stat(d.Stat())
	case wire.OpGetChildren, wire.OpGetEphemerals:
		return w.names(d)
	case wire.OpGetChildren2:
		return w.names(d) + " " + w.stat(d.Stat())
	case wire.OpGetACL:
		return fmt.Sprintf("%v %s", d.ACLs(), w.stat(d.Stat()))
	case wire.OpGetAllChildrenNumber, wire.OpAddWatch:
		return fmt.Sprint(d.Int("n"))
	case wire.OpSync, wire.OpSasl:
		return data(d.Buffer("path"))
	case wire.OpMulti, wire.OpMultiRead:
		return w.results(d.MultiResults())
	case wire.OpWhoAmI:
		var ids []string
		for range d.Int("count") {
			ids = append(ids, d.String("scheme")+":"+d.String("user"))
		}
		slices.Sort(ids) // a set, in the order of a hash table
		return fmt.Sprint(ids)
	}
	return ""
}

func (w *world) names(d *wire.Decoder) string {
	names := d.Strings("names")
	slices.Sort(names)
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

func (w *world) results(rs []wire.MultiResult) string {
	var out []string
	for _, r := range rs {
		s := fmt.Sprintf("%s %s", r.Op, r.Err)
		switch r.Op {
		case wire.OpCreate:
			s += " " + r.Path
		case wire.OpCreate2:
			s += " " + r.Path + " " + w.stat(r.Stat)
		case wire.OpSetData:
			s += " " + w.stat(r.Stat)
		case wire.OpGetData:
			s += " " + data(r.Data) + " " + w.stat(r.Stat)
		case wire.OpGetChildren:
			slices.Sort(r.Children)
			s += " " + fmt.Sprint(r.Children)
		}
		out = append(out, s)
	}
	return "[" + strings.Join(out, "; ") + "]"
}
