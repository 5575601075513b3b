package wire

// CreateRequest is the record of create, create2 and createContainer, and with TTL of createTTL.
type CreateRequest struct {
	Path  string
	Data  []byte // nil is null
	ACL   []ACL  // nil is a null vector
	Flags int32
	TTL   int64 // milliseconds; on the wire only in createTTL
}

// CreateRequest reads the record that op carries. Data aliases the input.
func (d *Decoder) CreateRequest(op OpCode) CreateRequest {
	r := CreateRequest{Path: d.String("path"), Data: d.Buffer("data"), ACL: d.ACLs(), Flags: d.Int("flags"), TTL: -1}
	if op == OpCreateTTL {
		r.TTL = d.Long("ttl")
	}
	return r
}

// AppendCreateRequest appends r as op carries it.
func AppendCreateRequest(b []byte, op OpCode, r CreateRequest) []byte {
	b = AppendString(b, r.Path)
	b = AppendBuffer(b, r.Data)
	b = AppendACLs(b, r.ACL)
	b = AppendInt(b, r.Flags)
	if op == OpCreateTTL {
		b = AppendLong(b, r.TTL)
	}
	return b
}

// PathVersion is the record of delete and check. Version -1 is any.
type PathVersion struct {
	Path    string
	Version int32
}

// PathVersion reads one.
func (d *Decoder) PathVersion() PathVersion {
	return PathVersion{Path: d.String("path"), Version: d.Int("version")}
}

// AppendPathVersion appends r.
func AppendPathVersion(b []byte, r PathVersion) []byte {
	return AppendInt(AppendString(b, r.Path), r.Version)
}

// PathWatch is the record of exists, getData, getChildren and getChildren2.
type PathWatch struct {
	Path  string
	Watch bool
}

// PathWatch reads one.
func (d *Decoder) PathWatch() PathWatch {
	return PathWatch{Path: d.String("path"), Watch: d.Bool("watch")}
}

// AppendPathWatch appends r.
func AppendPathWatch(b []byte, r PathWatch) []byte {
	return AppendBool(AppendString(b, r.Path), r.Watch)
}

// SetDataRequest is the record of setData. Version -1 is any; nil data is null.
type SetDataRequest struct {
	Path    string
	Data    []byte
	Version int32
}

// SetDataRequest reads one. Data aliases the input.
func (d *Decoder) SetDataRequest() SetDataRequest {
	return SetDataRequest{Path: d.String("path"), Data: d.Buffer("data"), Version: d.Int("version")}
}

// AppendSetDataRequest appends r.
func AppendSetDataRequest(b []byte, r SetDataRequest) []byte {
	return AppendInt(AppendBuffer(AppendString(b, r.Path), r.Data), r.Version)
}

// SetACLRequest is the record of setACL. Version is the aversion wanted, -1 for any.
type SetACLRequest struct {
	Path    string
	ACL     []ACL
	Version int32
}

// SetACLRequest reads one.
func (d *Decoder) SetACLRequest() SetACLRequest {
	return SetACLRequest{Path: d.String("path"), ACL: d.ACLs(), Version: d.Int("version")}
}

// AppendSetACLRequest appends r.
func AppendSetACLRequest(b []byte, r SetACLRequest) []byte {
	return AppendInt(AppendACLs(AppendString(b, r.Path), r.ACL), r.Version)
}

// AuthRequest is the record of auth.
type AuthRequest struct {
	Type   int32
	Scheme string
	Auth   []byte
}

// AuthRequest reads one. Auth aliases the input.
func (d *Decoder) AuthRequest() AuthRequest {
	return AuthRequest{Type: d.Int("type"), Scheme: d.String("scheme"), Auth: d.Buffer("auth")}
}

// AppendAuthRequest appends r.
func AppendAuthRequest(b []byte, r AuthRequest) []byte {
	return AppendBuffer(AppendString(AppendInt(b, r.Type), r.Scheme), r.Auth)
}

// SetWatchesRequest is the record of setWatches, and with the last two lists of setWatches2.
type SetWatchesRequest struct {
	RelativeZxid                  int64
	Data, Exist, Child            []string
	Persistent, PersistentRecurse []string
}

// SetWatchesRequest reads the record that op carries. No list may be null.
func (d *Decoder) SetWatchesRequest(op OpCode) SetWatchesRequest {
	r := SetWatchesRequest{
		RelativeZxid: d.Long("relativeZxid"),
		Data:         d.fullStrings("dataWatches"), Exist: d.fullStrings("existWatches"), Child: d.fullStrings("childWatches"),
	}
	if op == OpSetWatches2 {
		r.Persistent = d.fullStrings("persistentWatches")
		r.PersistentRecurse = d.fullStrings("persistentRecursiveWatches")
	}
	return r
}

// fullStrings is Strings where null is refused.
func (d *Decoder) fullStrings(field string) []string {
	off := d.off
	s := d.Strings(field)
	if s == nil {
		d.fail(off, field, ErrNull)
	}
	return s
}

// AppendSetWatchesRequest appends r as op carries it; a nil list as an empty one.
func AppendSetWatchesRequest(b []byte, op OpCode, r SetWatchesRequest) []byte {
	b = AppendLong(b, r.RelativeZxid)
	lists := [][]string{r.Data, r.Exist, r.Child}
	if op == OpSetWatches2 {
		lists = append(lists, r.Persistent, r.PersistentRecurse)
	}
	for _, l := range lists {
		if l == nil {
			l = []string{}
		}
		b = AppendStrings(b, l)
	}
	return b
}

// PathInt is the record of addWatch, checkWatches and removeWatches: a path and a mode or kind.
type PathInt struct {
	Path string
	N    int32
}

// PathInt reads one.
func (d *Decoder) PathInt() PathInt { return PathInt{Path: d.String("path"), N: d.Int("mode")} }

// AppendPathInt appends r.
func AppendPathInt(b []byte, r PathInt) []byte { return AppendInt(AppendString(b, r.Path), r.N) }
