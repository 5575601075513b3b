package jute

import "mrtq/internal/znode"

// PasswordLen is the length of a session's password, in bytes.
const PasswordLen = 16

// ConnectRequest opens or resumes a session. SessionID 0 asks for a new one.
type ConnectRequest struct {
	ProtocolVersion int32
	LastZxidSeen    int64
	TimeoutMillis   int32
	SessionID       int64
	Password        []byte
	// HasReadOnly is false for clients older than 3.4. Their request ends before the flag
	// ReadOnly, and they expect a response without it.
	HasReadOnly bool
	ReadOnly    bool
}

// ConnectRequest reads one. Password aliases the input.
func (d *Decoder) ConnectRequest() ConnectRequest {
	c := ConnectRequest{ProtocolVersion: d.Int("protocolVersion"), LastZxidSeen: d.Long("lastZxidSeen")}
	c.TimeoutMillis, c.SessionID, c.Password = d.Int("timeOut"), d.Long("sessionId"), d.Buffer("passwd")
	if d.err == nil && d.Len() > 0 {
		c.HasReadOnly, c.ReadOnly = true, d.Bool("readOnly")
	}
	return c
}

// AppendConnectRequest appends c.
func AppendConnectRequest(b []byte, c ConnectRequest) []byte {
	b = AppendLong(AppendInt(b, c.ProtocolVersion), c.LastZxidSeen)
	b = AppendBuffer(AppendLong(AppendInt(b, c.TimeoutMillis), c.SessionID), c.Password)
	if c.HasReadOnly {
		b = AppendBool(b, c.ReadOnly)
	}
	return b
}

// ConnectResponse answers a ConnectRequest. A refused session has TimeoutMillis 0.
type ConnectResponse struct {
	ProtocolVersion int32
	TimeoutMillis   int32
	SessionID       int64
	Password        []byte
	HasReadOnly     bool
	ReadOnly        bool
}

// ConnectResponse reads one. Password aliases the input.
func (d *Decoder) ConnectResponse() ConnectResponse {
	c := ConnectResponse{ProtocolVersion: d.Int("protocolVersion")}
	c.TimeoutMillis, c.SessionID, c.Password = d.Int("timeOut"), d.Long("sessionId"), d.Buffer("passwd")
	if d.err == nil && d.Len() > 0 {
		c.HasReadOnly, c.ReadOnly = true, d.Bool("readOnly")
	}
	return c
}

// AppendConnectResponse appends c.
func AppendConnectResponse(b []byte, c ConnectResponse) []byte {
	b = AppendInt(b, c.ProtocolVersion)
	b = AppendBuffer(AppendLong(AppendInt(b, c.TimeoutMillis), c.SessionID), c.Password)
	if c.HasReadOnly {
		b = AppendBool(b, c.ReadOnly)
	}
	return b
}

// RequestHeader is the beginning of every request after the first.
type RequestHeader struct {
	Xid int32
	Op  OpCode
}

// RequestHeader reads one.
func (d *Decoder) RequestHeader() RequestHeader {
	return RequestHeader{Xid: d.Int("xid"), Op: OpCode(d.Int("type"))}
}

// AppendRequestHeader appends h.
func AppendRequestHeader(b []byte, h RequestHeader) []byte {
	return AppendInt(AppendInt(b, h.Xid), int32(h.Op))
}

// ReplyHeaderLen is the width of a ReplyHeader, in bytes.
const ReplyHeaderLen = 16

// ReplyHeader is the beginning of every reply and notification.
type ReplyHeader struct {
	Xid  int32
	Zxid int64
	Err  Code
}

// ReplyHeader reads one.
func (d *Decoder) ReplyHeader() ReplyHeader {
	return ReplyHeader{Xid: d.Int("xid"), Zxid: d.Long("zxid"), Err: Code(d.Int("err"))}
}

// AppendReplyHeader appends h.
func AppendReplyHeader(b []byte, h ReplyHeader) []byte {
	return AppendInt(AppendLong(AppendInt(b, h.Xid), h.Zxid), int32(h.Err))
}

// Stat reads one.
func (d *Decoder) Stat() znode.Stat {
	return znode.Stat{
		Czxid: d.Long("czxid"), Mzxid: d.Long("mzxid"),
		Ctime: d.Long("ctime"), Mtime: d.Long("mtime"),
		Version: d.Int("version"), Cversion: d.Int("cversion"), Aversion: d.Int("aversion"),
		EphemeralOwner: d.Long("ephemeralOwner"),
		DataLength:     d.Int("dataLength"), NumChildren: d.Int("numChildren"),
		Pzxid: d.Long("pzxid"),
	}
}

// AppendStat appends s.
func AppendStat(b []byte, s *znode.Stat) []byte {
	b = AppendLong(b, s.Czxid)
	b = AppendLong(b, s.Mzxid)
	b = AppendLong(b, s.Ctime)
	b = AppendLong(b, s.Mtime)
	b = AppendInt(b, s.Version)
	b = AppendInt(b, s.Cversion)
	b = AppendInt(b, s.Aversion)
	b = AppendLong(b, s.EphemeralOwner)
	b = AppendInt(b, s.DataLength)
	b = AppendInt(b, s.NumChildren)
	return AppendLong(b, s.Pzxid)
}

// ID is an identity: a scheme and a name within it, such as "digest" and "user:hash".
type ID struct {
	Scheme, Name string
}

// ACLs reads a vector of ACLs. It returns nil for a null vector. A null string becomes "", because
// kazoo writes the empty id of scheme "auth" as null.
func (d *Decoder) ACLs() []znode.ACL {
	const shortest = 12 // the permissions, and the lengths of two strings
	return vector(d, "acl count", shortest, func() znode.ACL {
		return znode.ACL{Perms: d.Int("perms"), Scheme: string(d.Buffer("scheme")), ID: string(d.Buffer("id"))}
	})
}

// AppendACLs appends a vector of ACLs. A nil v is a null vector.
func AppendACLs(b []byte, v []znode.ACL) []byte {
	if v == nil {
		return AppendInt(b, -1)
	}
	b = AppendInt(b, int32(len(v)))
	for _, a := range v {
		b = AppendString(AppendString(AppendInt(b, a.Perms), a.Scheme), a.ID)
	}
	return b
}

// WatcherEvent is the record of a notification.
type WatcherEvent struct {
	Type  int32
	State int32
	Path  string
}

// WatcherEvent reads one.
func (d *Decoder) WatcherEvent() WatcherEvent {
	return WatcherEvent{Type: d.Int("type"), State: d.Int("state"), Path: d.String("path")}
}

// AppendWatcherEvent appends e.
func AppendWatcherEvent(b []byte, e WatcherEvent) []byte {
	return AppendString(AppendInt(AppendInt(b, e.Type), e.State), e.Path)
}

// MultiHeader precedes each operation and each result in a multi. A header with Done ends the list.
type MultiHeader struct {
	Op   OpCode
	Done bool
	Err  Code
}

// multiEnd is what Java writes at the end of a list, too.
var multiEnd = MultiHeader{Op: OpError, Done: true, Err: -1}

// MultiHeader reads one.
func (d *Decoder) MultiHeader() MultiHeader {
	return MultiHeader{Op: OpCode(d.Int("type")), Done: d.Bool("done"), Err: Code(d.Int("err"))}
}

// AppendMultiHeader appends h.
func AppendMultiHeader(b []byte, h MultiHeader) []byte {
	return AppendInt(AppendBool(AppendInt(b, int32(h.Op)), h.Done), int32(h.Err))
}

// AppendMultiEnd appends the header that ends a multi's list.
func AppendMultiEnd(b []byte) []byte { return AppendMultiHeader(b, multiEnd) }
