package minizk

import "mrtq/internal/jute"

// An OpCode is the number of an operation in the protocol, such as [OpGetData]. Other operations than
// those below have their numbers in ZooKeeper's ZooDefs. It has these methods:
//
//	String() string // such as getData
//	Changes() bool  // whether it could change the server's state, and so takes a zxid
type OpCode = jute.OpCode

// A Code is an error number of the protocol, such as [NoNode]. It is a Go error, too. Other errors
// than those below have their numbers in ZooKeeper's KeeperException.Code. It has these methods:
//
//	Error() string  // such as zookeeper: NoNode (-101)
//	String() string // such as NoNode
type Code = jute.Code

// Operations that a fault may select.
const (
	OpCreate          = jute.OpCreate
	OpCreate2         = jute.OpCreate2
	OpCreateContainer = jute.OpCreateContainer
	OpCreateTTL       = jute.OpCreateTTL
	OpDelete          = jute.OpDelete
	OpExists          = jute.OpExists
	OpGetData         = jute.OpGetData
	OpSetData         = jute.OpSetData
	OpGetACL          = jute.OpGetACL
	OpSetACL          = jute.OpSetACL
	OpGetChildren     = jute.OpGetChildren
	OpGetChildren2    = jute.OpGetChildren2
	OpSync            = jute.OpSync
	OpPing            = jute.OpPing
	OpMulti           = jute.OpMulti
	OpMultiRead       = jute.OpMultiRead
	OpAddWatch        = jute.OpAddWatch
	OpSetWatches      = jute.OpSetWatches
	OpSetWatches2     = jute.OpSetWatches2
	OpCloseSession    = jute.OpCloseSession
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
