package minizk

import "mrtq/internal/jute"

// An OpCode is the number of an operation in the protocol, such as [OpGetData]. Other operations than
// those below have their numbers in ZooKeeper's ZooDefs.
type OpCode = jute.OpCode

// A Code is an error number of the protocol, such as [NoNode]. It is a Go error, too. Other errors
// than those below have their numbers in ZooKeeper's KeeperException.Code.
type Code = jute.Code

// Operations that a fault may select.
const (
	OpCreate       = jute.OpCreate
	OpDelete       = jute.OpDelete
	OpExists       = jute.OpExists
	OpGetData      = jute.OpGetData
	OpSetData      = jute.OpSetData
	OpGetACL       = jute.OpGetACL
	OpSetACL       = jute.OpSetACL
	OpGetChildren  = jute.OpGetChildren
	OpGetChildren2 = jute.OpGetChildren2
	OpSync         = jute.OpSync
	OpPing         = jute.OpPing
	OpMulti        = jute.OpMulti
	OpMultiRead    = jute.OpMultiRead
	OpCloseSession = jute.OpCloseSession
)

// Codes that a fault may refuse an operation with.
const (
	OK               = jute.OK
	NoNode           = jute.NoNode
	NoAuth           = jute.NoAuth
	BadVersion       = jute.BadVersion
	NodeExists       = jute.NodeExists
	NotEmpty         = jute.NotEmpty
	SessionExpired   = jute.SessionExpired
	SystemError      = jute.SystemError
	OperationTimeout = jute.OperationTimeout
	ThrottledOp      = jute.ThrottledOp
)
