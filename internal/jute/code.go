package jute

import (
	"errors"
	"fmt"
)

// Code is the error number in a reply header. It is a Go error, too, so that a function can return
// one and its caller can test it with errors.Is. No function returns OK as an error: success is
// nil.
type Code int32

// The codes of KeeperException.Code in ZooKeeper 3.8.
const (
	OK                   Code = 0
	SystemError          Code = -1
	RuntimeInconsistency Code = -2
	ConnectionLoss       Code = -4
	MarshallingError     Code = -5
	Unimplemented        Code = -6
	OperationTimeout     Code = -7
	BadArguments         Code = -8
	APIError             Code = -100
	NoNode               Code = -101
	NoAuth               Code = -102
	BadVersion           Code = -103
	NoChildrenForEph     Code = -108
	NodeExists           Code = -110
	NotEmpty             Code = -111
	SessionExpired       Code = -112
	InvalidACL           Code = -114
	AuthFailed           Code = -115
	SessionMoved         Code = -118
	NoWatcher            Code = -121
	ReconfigDisabled     Code = -123
	QuotaExceeded        Code = -125
	ThrottledOp          Code = -127
)

var codeNames = map[Code]string{
	OK: "OK", SystemError: "SystemError", RuntimeInconsistency: "RuntimeInconsistency", ConnectionLoss: "ConnectionLoss",
	MarshallingError: "MarshallingError", Unimplemented: "Unimplemented",
	OperationTimeout: "OperationTimeout", BadArguments: "BadArguments",
	APIError: "APIError", NoNode: "NoNode", NoAuth: "NoAuth",
	BadVersion: "BadVersion", NoChildrenForEph: "NoChildrenForEphemerals",
	NodeExists: "NodeExists", NotEmpty: "NotEmpty", SessionExpired: "SessionExpired", InvalidACL: "InvalidACL", AuthFailed: "AuthFailed",
	SessionMoved: "SessionMoved", NoWatcher: "NoWatcher",
	ReconfigDisabled: "ReconfigDisabled", QuotaExceeded: "QuotaExceeded",
	ThrottledOp: "ThrottledOp",
}

// String returns KeeperException's name for the code, or "code -77" for an unknown one.
func (c Code) String() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	return fmt.Sprintf("code %d", int32(c))
}

// Error returns a message such as "zookeeper: NoNode (-101)".
func (c Code) Error() string { return fmt.Sprintf("zookeeper: %s (%d)", c.String(), int32(c)) }

// CodeOf returns the code to put in a reply header for err: OK for nil, the code itself for a
// Code or an error wrapping one, SystemError otherwise.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	var c Code
	if errors.As(err, &c) {
		return c
	}
	return SystemError
}
