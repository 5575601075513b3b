package jute

// CreateRequest is the record of create, create2, createContainer and createTTL. Here and in the
// records below, NullPath says that the path is null, which to a server is not the same as "".
type CreateRequest struct {
	Path  string
	Data  []byte // nil is null
	ACL   []ACL  // nil is a null vector
	Flags int32  // a mode such as ModeEphemeral
	TTL   int64  // in milliseconds; only createTTL sends it

	NullPath bool
}

// CreateRequest reads op's record. Data aliases the input. TTL is -1 unless op is createTTL.
func (d *Decoder) CreateRequest(op OpCode) CreateRequest {
	var r CreateRequest
	r.Path, r.NullPath = d.maybeString("path")
	r.Data, r.ACL, r.Flags, r.TTL = d.Buffer("data"), d.ACLs(), d.Int("flags"), -1
	if op == OpCreateTTL {
		r.TTL = d.Long("ttl")
	}
	return r
}

// AppendCreateRequest appends r as op's record.
func AppendCreateRequest(b []byte, op OpCode, r CreateRequest) []byte {
	b = appendMaybe(b, r.Path, r.NullPath)
	b = AppendBuffer(b, r.Data)
	b = AppendACLs(b, r.ACL)
	b = AppendInt(b, r.Flags)
	if op == OpCreateTTL {
		b = AppendLong(b, r.TTL)
	}
	return b
}

// PathVersion is the record of delete and check. Version -1 means any version.
type PathVersion struct {
	Path     string
	Version  int32
	NullPath bool
}

// PathVersion reads one.
func (d *Decoder) PathVersion() PathVersion {
	var r PathVersion
	r.Path, r.NullPath = d.maybeString("path")
	r.Version = d.Int("version")
	return r
}

// AppendPathVersion appends r.
func AppendPathVersion(b []byte, r PathVersion) []byte {
	return AppendInt(appendMaybe(b, r.Path, r.NullPath), r.Version)
}

// PathWatch is the record of exists, getData, getChildren and getChildren2.
type PathWatch struct {
	Path     string
	Watch    bool
	NullPath bool
}

// PathWatch reads one.
func (d *Decoder) PathWatch() PathWatch {
	var r PathWatch
	r.Path, r.NullPath = d.maybeString("path")
	r.Watch = d.Bool("watch")
	return r
}

// AppendPathWatch appends r.
func AppendPathWatch(b []byte, r PathWatch) []byte {
	return AppendBool(appendMaybe(b, r.Path, r.NullPath), r.Watch)
}

// SetDataRequest is the record of setData. Version -1 means any version. Nil Data is null.
type SetDataRequest struct {
	Path     string
	Data     []byte
	Version  int32
	NullPath bool
}

// SetDataRequest reads one. Data aliases the input.
func (d *Decoder) SetDataRequest() SetDataRequest {
	var r SetDataRequest
	r.Path, r.NullPath = d.maybeString("path")
	r.Data, r.Version = d.Buffer("data"), d.Int("version")
	return r
}

// AppendSetDataRequest appends r.
func AppendSetDataRequest(b []byte, r SetDataRequest) []byte {
	return AppendInt(AppendBuffer(appendMaybe(b, r.Path, r.NullPath), r.Data), r.Version)
}

// SetACLRequest is the record of setACL. Version is the aversion that the node must have; -1 means
// any.
type SetACLRequest struct {
	Path     string
	ACL      []ACL
	Version  int32
	NullPath bool
}

// SetACLRequest reads one.
func (d *Decoder) SetACLRequest() SetACLRequest {
	var r SetACLRequest
	r.Path, r.NullPath = d.maybeString("path")
	r.ACL, r.Version = d.ACLs(), d.Int("version")
	return r
}

// AppendSetACLRequest appends r.
func AppendSetACLRequest(b []byte, r SetACLRequest) []byte {
	return AppendInt(AppendACLs(appendMaybe(b, r.Path, r.NullPath), r.ACL), r.Version)
}

// AuthRequest is the record of auth. Nil Auth is null.
type AuthRequest struct {
	Type       int32
	Scheme     string
	Auth       []byte
	NullScheme bool // then Scheme is ""
}

// AuthRequest reads one. Auth aliases the input.
func (d *Decoder) AuthRequest() AuthRequest {
	r := AuthRequest{Type: d.Int("type")}
	r.Scheme, r.NullScheme = d.maybeString("scheme")
	r.Auth = d.Buffer("auth")
	return r
}

// AppendAuthRequest appends r.
func AppendAuthRequest(b []byte, r AuthRequest) []byte {
	return AppendBuffer(appendMaybe(AppendInt(b, r.Type), r.Scheme, r.NullScheme), r.Auth)
}

// SetWatchesRequest is the record of setWatches and setWatches2. Only setWatches2 has the two
// Persistent lists. A nil list is null, and a nil string in a list is null.
type SetWatchesRequest struct {
	RelativeZxid                  int64
	Data, Exist, Child            []*string
	Persistent, PersistentRecurse []*string
}

// SetWatchesRequest reads op's record.
func (d *Decoder) SetWatchesRequest(op OpCode) SetWatchesRequest {
	r := SetWatchesRequest{RelativeZxid: d.Long("relativeZxid")}
	r.Data, r.Exist, r.Child = d.NullStrings("dataWatches"), d.NullStrings("existWatches"), d.NullStrings("childWatches")
	if op == OpSetWatches2 {
		r.Persistent, r.PersistentRecurse = d.NullStrings("persistentWatches"), d.NullStrings("persistentRecursiveWatches")
	}
	return r
}

// AppendSetWatchesRequest appends r as op's record.
func AppendSetWatchesRequest(b []byte, op OpCode, r SetWatchesRequest) []byte {
	b = AppendLong(b, r.RelativeZxid)
	lists := [][]*string{r.Data, r.Exist, r.Child}
	if op == OpSetWatches2 {
		lists = append(lists, r.Persistent, r.PersistentRecurse)
	}
	for _, l := range lists {
		b = AppendNullStrings(b, l)
	}
	return b
}

// PathInt is the record of addWatch, checkWatches and removeWatches. N is a mode of addWatch, such
// as WatchPersistent, or a kind of the other two, such as WatcherAny.
type PathInt struct {
	Path     string
	N        int32
	NullPath bool
}

// PathInt reads one.
func (d *Decoder) PathInt() PathInt {
	var r PathInt
	r.Path, r.NullPath = d.maybeString("path")
	r.N = d.Int("mode")
	return r
}

// AppendPathInt appends r.
func AppendPathInt(b []byte, r PathInt) []byte {
	return AppendInt(appendMaybe(b, r.Path, r.NullPath), r.N)
}
