package minizk_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/scanner"
	"time"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// arrow separates a request from its answer in a transcript.
const arrow = " →"

// run does what a script says, line by line, and records it. A transcript is a script with the
// answers: what follows an arrow, and lines that are indented. So run leaves them out.
func (w *world) run(script string) {
	w.t.Helper()
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
			w.note("%s", line)
		case line != "" && !strings.HasPrefix(line, "\t"):
			what, _, _ := strings.Cut(line, arrow)
			w.line(what)
		}
	}
}

func (w *world) line(what string) {
	w.t.Helper()
	a := &args{w, what, tokens(what)}
	name, verb := a.next(), a.next()
	if name == "pass" { // of all
		w.note("%s%s", what, arrow)
		d, err := time.ParseDuration(verb)
		if err != nil {
			w.t.Fatal(err)
		}
		w.pass(d)
		return
	}
	switch verb {
	case "session":
		w.named[name] = w.dial(name)
		w.named[name].open(what)
		return
	case "connect":
		w.named[name] = w.dial(name)
		w.named[name].connect(what, a.handshake())
		return
	case "dial":
		w.named[name] = w.dial(name)
		w.note("%s%s", what, arrow)
		return
	case "word":
		w.word(name)
		w.note("%s%s", what, arrow)
		return
	}
	c := w.named[name]
	if c == nil {
		w.t.Fatalf("%q: there is no %s", what, name)
	}
	switch verb {
	case "resume":
		c.resume(what)
	case "waits":
		c.expectEvent(what)
	case "ends":
		c.expectEnd(what)
	case "frame", "write":
		w.note("%s%s", what, arrow)
		c.bytes(verb == "frame", a.hex())
	case "unanswered":
		w.note("%s%s", what, arrow)
		op, _ := a.op(a.next())
		if _, err := c.c.Queue(packet(a.request(op))); err != nil {
			w.t.Fatal(err)
		}
	case "raw":
		op, xid := a.op(a.next())
		c.do(what, xid, op, a.hex())
	case "pingSorted": // events that come in no defined order
		from := len(w.lines)
		c.do(what, jute.XidPing, jute.OpPing, nil)
		slices.Sort(w.lines[from : len(w.lines)-1])
	default:
		op, xid := a.op(verb)
		if xid == 0 {
			xid = xids[op]
		}
		r := a.request(op)
		c.do(what, xid, op, appendRequest(nil, r))
	}
	if len(a.left) > 0 {
		w.t.Fatalf("%q: what is %q?", what, a.left)
	}
}

var xids = map[jute.OpCode]int32{
	jute.OpPing: jute.XidPing, jute.OpAuth: jute.XidAuth, jute.OpSetWatches: jute.XidSetWatches, jute.OpSetWatches2: jute.XidSetWatches,
}

// fieldsOf are the fields of a request as a script writes them, in the order of its record.
var fieldsOf = map[jute.OpCode]string{
	jute.OpCreate: "path data acl flags", jute.OpCreate2: "path data acl flags", jute.OpCreateContainer: "path data acl flags",
	jute.OpCreateTTL: "path data acl flags ttl", jute.OpDelete: "path version", jute.OpCheck: "path version",
	jute.OpSetData: "path data version", jute.OpSetACL: "path acl version",
	jute.OpExists: "path watch", jute.OpGetData: "path watch", jute.OpGetChildren: "path watch", jute.OpGetChildren2: "path watch",
	jute.OpGetACL: "path", jute.OpGetAllChildrenNumber: "path", jute.OpGetEphemerals: "path", jute.OpSync: "path",
	jute.OpAddWatch: "path kind", jute.OpCheckWatches: "path kind", jute.OpRemoveWatches: "path kind",
	jute.OpSetWatches: "since watches", jute.OpSetWatches2: "since watches",
	jute.OpAuth: "scheme data", jute.OpSasl: "data", jute.OpMulti: "ops", jute.OpMultiRead: "ops",
}

type args struct {
	w    *world
	line string
	left []string
}

// tokens are a line's words: quoted strings, brackets and commas, and all that is between blanks.
func tokens(line string) (all []string) {
	var s scanner.Scanner
	s.Init(strings.NewReader(line))
	s.Mode = scanner.ScanIdents | scanner.ScanStrings
	s.IsIdentRune = func(ch rune, _ int) bool { return ch > ' ' && !strings.ContainsRune(`"[]{},;`, ch) }
	for s.Scan() != scanner.EOF {
		all = append(all, s.TokenText())
	}
	return all
}

func (a *args) next() string {
	a.w.t.Helper()
	if len(a.left) == 0 {
		a.w.t.Fatalf("%q: something is missing", a.line)
	}
	word := a.left[0]
	a.left = a.left[1:]
	return word
}

func (a *args) is(word string) bool {
	if len(a.left) == 0 || a.left[0] != word {
		return false
	}
	a.left = a.left[1:]
	return true
}

func (a *args) text() string {
	a.w.t.Helper()
	text, err := strconv.Unquote(a.next())
	if err != nil {
		a.w.t.Fatalf("%q: a string: %v", a.line, err)
	}
	return text
}

func (a *args) hex() []byte {
	a.w.t.Helper()
	b, err := hex.DecodeString(a.text())
	if err != nil {
		a.w.t.Fatalf("%q: %v", a.line, err)
	}
	return b
}

func (a *args) number() int64 {
	a.w.t.Helper()
	n, err := strconv.ParseInt(a.next(), 10, 64)
	if err != nil {
		a.w.t.Fatalf("%q: %v", a.line, err)
	}
	return n
}

// op is an operation by its name, or "op" and its number. After an @ comes the xid, otherwise it is 0.
func (a *args) op(word string) (op jute.OpCode, xid int32) {
	a.w.t.Helper()
	if word == "op" {
		return jute.OpCode(a.number()), 0
	}
	name, at, _ := strings.Cut(word, "@")
	if at != "" {
		n, err := strconv.Atoi(at)
		if err != nil {
			a.w.t.Fatalf("%q: %v", a.line, err)
		}
		xid = int32(n)
	}
	for op := jute.OpCode(-20); op < 200; op++ {
		if op.String() == name {
			return op, xid
		}
	}
	a.w.t.Fatalf("%q: there is no operation %s", a.line, name)
	return 0, 0
}

func (a *args) request(op jute.OpCode) jute.Request {
	a.w.t.Helper()
	r := jute.Request{Op: op}
	for _, field := range strings.Fields(fieldsOf[op]) {
		switch field {
		case "path":
			r.Path = a.text()
		case "data":
			r.Data = a.data()
		case "acl":
			r.ACL = a.acl()
		case "flags":
			r.Flags = int32(a.number())
		case "ttl":
			r.TTL = a.number()
		case "version":
			r.Version = int32(a.number())
		case "kind":
			r.Kind = int32(a.number())
		case "scheme":
			r.Scheme = a.text()
		case "watch":
			r.Watch = a.is("watch")
		case "since":
			relative := strings.HasPrefix(a.left[0], "+")
			if r.Since = a.number(); relative {
				r.Since += a.w.base
			}
		case "watches":
			for a.is("[") {
				list := []string{}
				for !a.is("]") {
					list = append(list, a.text())
					a.is(",")
				}
				r.Watches = append(r.Watches, list)
			}
		case "ops":
			for more := a.is("{"); more && !a.is("}"); a.is(";") {
				op, _ := a.op(a.next())
				r.Ops = append(r.Ops, a.request(op))
			}
		}
	}
	return r
}

func (a *args) data() []byte {
	a.w.t.Helper()
	switch {
	case a.is("null"):
		return nil
	case a.is("zeros"):
		return make([]byte, a.number())
	}
	return []byte(a.text())
}

func (a *args) acl() []znode.ACL {
	a.w.t.Helper()
	switch {
	case a.is("null"):
		return nil
	case a.is("open"):
		return open
	}
	acl := []znode.ACL{}
	for more := a.is("["); more && !a.is("]"); a.is(",") {
		acl = append(acl, znode.ACL{Perms: int32(a.number()), Scheme: a.text(), ID: a.text()})
	}
	return acl
}

func aclText(list []znode.ACL) string {
	var each []string
	for _, e := range list {
		each = append(each, fmt.Sprintf("%d %q %q", e.Perms, e.Scheme, e.ID))
	}
	return "[" + strings.Join(each, ", ") + "]"
}

// handshake is a connect request. It resumes the session "of" a client, with that client's password.
func (a *args) handshake() jute.ConnectRequest {
	a.w.t.Helper()
	r := jute.ConnectRequest{HasReadOnly: true}
	for len(a.left) > 0 {
		switch word := a.next(); word {
		case "version":
			r.ProtocolVersion = int32(a.number())
		case "seen":
			r.LastZxidSeen = a.number()
		case "timeout":
			r.TimeoutMillis = int32(a.number())
		case "id":
			r.SessionID = a.number()
		case "of":
			of := a.w.named[a.next()].c.Session
			r.SessionID, r.Password = of.SessionID, of.Password
		case "password":
			r.Password = []byte(a.text())
		case "short": // as old clients send it
			r.HasReadOnly = false
		case "readOnly":
			r.ReadOnly = true
		default:
			a.w.t.Fatalf("%q: what is %s?", a.line, word)
		}
	}
	return r
}
