package minizk

import "mrtq/internal/jute"

// An OpCode is the number of an operation in the protocol, such as [OpGetData].
type OpCode = jute.OpCode

// A Code is an error number of the protocol, such as [NoNode]. It is a Go error, too.
type Code = jute.Code

// The operations of ZooKeeper 3.8. OpCreateSession is in a server's log when a session was opened,
// resumed or refused. OpError only occurs inside the reply to a multi.
const (
	OpNotification         = jute.OpNotification
	OpCreate               = jute.OpCreate
	OpDelete               = jute.OpDelete
	OpExists               = jute.OpExists
	OpGetData              = jute.OpGetData
	OpSetData              = jute.OpSetData
	OpGetACL               = jute.OpGetACL
	OpSetACL               = jute.OpSetACL
	OpGetChildren          = jute.OpGetChildren
	OpSync                 = jute.OpSync
	OpPing                 = jute.OpPing
	OpGetChildren2         = jute.OpGetChildren2
	OpCheck                = jute.OpCheck
	OpMulti                = jute.OpMulti
	OpCreate2              = jute.OpCreate2
	OpReconfig             = jute.OpReconfig
	OpCheckWatches         = jute.OpCheckWatches
	OpRemoveWatches        = jute.OpRemoveWatches
	OpCreateContainer      = jute.OpCreateContainer
	OpDeleteContainer      = jute.OpDeleteContainer
	OpCreateTTL            = jute.OpCreateTTL
	OpMultiRead            = jute.OpMultiRead
	OpAuth                 = jute.OpAuth
	OpSetWatches           = jute.OpSetWatches
	OpSasl                 = jute.OpSasl
	OpGetEphemerals        = jute.OpGetEphemerals
	OpGetAllChildrenNumber = jute.OpGetAllChildrenNumber
	OpSetWatches2          = jute.OpSetWatches2
	OpAddWatch             = jute.OpAddWatch
	OpWhoAmI               = jute.OpWhoAmI
	OpCreateSession        = jute.OpCreateSession
	OpCloseSession         = jute.OpCloseSession
	OpError                = jute.OpError
)

// The codes of KeeperException.Code in ZooKeeper 3.8.
const (
	OK                   = jute.OK
	SystemError          = jute.SystemError
	RuntimeInconsistency = jute.RuntimeInconsistency
	ConnectionLoss       = jute.ConnectionLoss
	MarshallingError     = jute.MarshallingError
	Unimplemented        = jute.Unimplemented
	OperationTimeout     = jute.OperationTimeout
	BadArguments         = jute.BadArguments
	UnknownSession       = jute.UnknownSession
	APIError             = jute.APIError
	NoNode               = jute.NoNode
	NoAuth               = jute.NoAuth
	BadVersion           = jute.BadVersion
	NoChildrenForEph     = jute.NoChildrenForEph
	NodeExists           = jute.NodeExists
	NotEmpty             = jute.NotEmpty
	SessionExpired       = jute.SessionExpired
	InvalidACL           = jute.InvalidACL
	AuthFailed           = jute.AuthFailed
	SessionMoved         = jute.SessionMoved
	NotReadOnly          = jute.NotReadOnly
	NoWatcher            = jute.NoWatcher
	RequestTimeout       = jute.RequestTimeout
	ReconfigDisabled     = jute.ReconfigDisabled
	QuotaExceeded        = jute.QuotaExceeded
	ThrottledOp          = jute.ThrottledOp
)
