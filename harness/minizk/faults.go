package minizk

import (
	"slices"

	"mrtq/internal/jute"
)

// Op is what the condition of a fault can see of an operation before the server does it.
type Op struct {
	Session int64
	Code    jute.OpCode
	Path    string // "" for a multi and a multiRead
	// Codes and Paths are for these: the kind and the path of each of their operations, in order.
	Codes []jute.OpCode
	Paths []string
	Write bool // whether it could change the tree
}

// Fault says which operation goes wrong, and how. The handshake that opens or resumes a session is
// not an operation.
type Fault struct {
	// On selects operations. Nil selects all but pings, because the client's clock decides
	// when it pings. The server is locked while it calls On, so On must not block or call
	// the server.
	On func(Op) bool
	// Nth says which of the selected operations goes wrong, counted from 1. 0 is each of them.
	Nth int
	// Do is what happens to the operation.
	Do Action
}

// Action is what happens to an operation. With the zero value the operation is done as usual: use
// it to count operations with Injection.Matched.
type Action struct {
	kind actionKind
	code jute.Code
	gate <-chan struct{}
}

type actionKind int

const (
	nothing actionKind = iota
	cutBefore
	cutAfter
	swallow
	refuse
	hold
)

// CutBefore ends the connection instead of doing the operation.
func CutBefore() Action { return Action{kind: cutBefore} }

// CutAfter does the operation and then ends the connection, without a reply.
func CutAfter() Action { return Action{kind: cutAfter} }

// Swallow does the operation and never answers it. The connection stays.
func Swallow() Action { return Action{kind: swallow} }

// Refuse answers with code instead of doing the operation.
func Refuse(code jute.Code) Action { return Action{kind: refuse, code: code} }

// Hold does the operation when gate is closed, or has a value for it. To delay the operation, let a
// timer do that.
func Hold(gate <-chan struct{}) Action { return Action{kind: hold, gate: gate} }

// IsWrite selects the operations that could change the tree.
func IsWrite(o Op) bool { return o.Write }

// IsCreate selects the operations that could create a node, in each of the ways that clients have, alone or in a multi.
func IsCreate(o Op) bool {
	return slices.ContainsFunc(append(o.Codes, o.Code), func(code OpCode) bool {
		return code == OpCreate || code == OpCreate2 || code == OpCreateContainer || code == OpCreateTTL
	})
}

// OnOp selects operations of exactly these kinds. A client has several kinds for some purposes, such as create and create2 (see
// [IsCreate]), or getChildren and getChildren2. A multi is an operation of its own kind, whatever is in it.
func OnOp(codes ...jute.OpCode) func(Op) bool {
	return func(o Op) bool { return slices.Contains(codes, o.Code) }
}

// OnPath selects operations on exactly this path, alone or in a multi.
func OnPath(path string) func(Op) bool {
	return func(o Op) bool { return o.Path == path || slices.Contains(o.Paths, path) }
}

// Injection is a fault that a server has: what Inject returns.
type Injection struct {
	s     *Server
	fault Fault
	met   int // operations that On selected; guarded by Server.mu
	fired int
}

// faultList is in the order of injection. Server.mu guards it.
type faultList []*Injection

// Inject adds a fault, which acts until Remove. If several faults select the same operation, all
// of them count it as met. If several of them should act on it, only the first injected does.
func (s *Server) Inject(f Fault) *Injection {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := &Injection{s: s, fault: f}
	s.faults = append(s.faults, in)
	return in
}

// Remove ends the fault. If it holds an operation already, that operation keeps waiting.
func (in *Injection) Remove() {
	in.s.mu.Lock()
	defer in.s.mu.Unlock()
	in.s.faults = slices.DeleteFunc(slices.Clone(in.s.faults), func(o *Injection) bool { return o == in })
}

// Matched returns how many operations the fault's condition has selected.
func (in *Injection) Matched() int {
	in.s.mu.Lock()
	defer in.s.mu.Unlock()
	return in.met
}

// Fired returns how many times the fault has acted.
func (in *Injection) Fired() int {
	in.s.mu.Lock()
	defer in.s.mu.Unlock()
	return in.fired
}

func (l faultList) match(r *request) Action {
	if len(l) == 0 {
		return Action{}
	}
	op := r.operation()
	var act Action
	for _, in := range l {
		if in.fault.On == nil {
			if op.Code == jute.OpPing {
				continue
			}
		} else if !in.fault.On(op) {
			continue
		}
		in.met++
		if in.fault.Nth != 0 && in.fault.Nth != in.met {
			continue
		}
		if act.kind == nothing {
			in.fired++
			act = in.fault.Do
		}
	}
	return act
}

func (r *request) operation() Op {
	op := Op{Session: r.c.session.id, Code: r.Op, Path: r.Path, Write: r.Op.Changes() && r.Op != jute.OpCloseSession}
	for i := range r.Ops {
		op.Codes, op.Paths = append(op.Codes, r.Ops[i].Op), append(op.Paths, r.Ops[i].Path)
	}
	return op
}

// await waits until a held operation may continue, and releases mu meanwhile. It returns false if
// the connection ended first. The caller holds mu.
func (s *Server) await(c *conn, a Action) bool {
	if a.kind != hold {
		return true
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	// Send the replies to earlier requests now, because they must not wait.
	if c.out.flush() != nil {
		return false
	}
	select {
	case <-a.gate:
		return true
	case <-c.out.done:
		return false
	}
}
