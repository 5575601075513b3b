package minizk

import (
	"time"

	"mrtq/internal/jute"
	"mrtq/internal/zkserver"
)

// A Server is one ZooKeeper. Its methods may be called from any goroutine.
type Server = zkserver.Server

// Options says how a server behaves. The zero value is right for most tests.
type Options = zkserver.Options

// A Session is what [Server.Sessions] says about one session.
type Session = zkserver.Session

// Counts says how many requests clients have sent; see [Server.Counts].
type Counts = zkserver.Counts

// An Entry is one entry of a server's log; see [Server.Log].
type Entry = zkserver.Entry

// Version is what the server reports as its version. The number is the release that it behaves
// like.
const Version = zkserver.Version

// ErrClosed is the error of [Server.Dial] while the server is stopped or closed, and of
// [Server.Restart] after Close.
var ErrClosed = zkserver.ErrClosed

// Start returns a running server. The caller must Close it. The error is that opt makes no sense,
// or that the server cannot listen on the address.
func Start(opt Options) (*Server, error) { return zkserver.Start(opt) }

// A Fault says which operation goes wrong, and how; see [Server.Inject].
type Fault = zkserver.Fault

// An Op is what the condition of a [Fault] can see of an operation.
type Op = zkserver.Op

// An Action is what happens to an operation. With the zero value the operation is done as usual:
// use it to count operations with [Injected.Met].
type Action = zkserver.Action

// An Injected is a fault that a server has: what [Server.Inject] returns.
type Injected = zkserver.Injected

// CutBefore returns an action that ends the connection instead of doing the operation. The server
// first sends the replies to earlier operations.
func CutBefore() Action { return zkserver.CutBefore() }

// CutAfter returns an action that does the operation and then ends the connection. This client
// gets no reply, and no notification that the operation caused, so it cannot know whether the
// operation was done.
func CutAfter() Action { return zkserver.CutAfter() }

// Swallow returns an action that does the operation and never answers it, as if the answer were lost on its way. The
// connection stays: later requests are answered, pings too.
func Swallow() Action { return zkserver.Swallow() }

// Refuse returns an action that answers with code instead of doing the operation. It uses up no
// zxid.
func Refuse(code Code) Action { return zkserver.Refuse(code) }

// Delay returns an action that does the operation when d has passed on the server's clock. Only
// Advance moves a manual clock. Later requests of the connection wait behind it, pings too.
func Delay(d time.Duration) Action { return zkserver.Delay(d) }

// Hold returns an action that does the operation when gate is closed. Later requests of the
// connection wait behind it, pings too.
func Hold(gate <-chan struct{}) Action { return zkserver.Hold(gate) }

// Changing is a condition for Fault.On. It selects the operations that could change the tree.
// Opening and closing a session is not one.
func Changing(o Op) bool { return zkserver.Changing(o) }

// OnOp returns a condition for Fault.On that selects operations of the given kinds.
func OnOp(codes ...OpCode) func(Op) bool { return zkserver.OnOp(codes...) }

// OnPath returns a condition for Fault.On that selects operations on exactly this path, alone or
// in a multi.
func OnPath(path string) func(Op) bool { return zkserver.OnPath(path) }

// An OpCode is the number of an operation in the protocol, such as [OpGetData].
type OpCode = jute.OpCode

// A Code is an error number of the protocol, such as [NoNode]. It is a Go error, too.
type Code = jute.Code
