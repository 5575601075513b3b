package jute

// The records of a server's own files that clients never see. Package zkdata reads the files.

// StatPersisted is what a server keeps of a znode's Stat in a snapshot:
//
//	offset  width  meaning
//	0       8      czxid
//	8       8      mzxid
//	16      8      ctime, in milliseconds since 1970
//	24      8      mtime
//	32      4      version
//	36      4      cversion, which here counts only how many children were created
//	40      4      aversion
//	44      8      ephemeralOwner, which here can also be a code for a container or a TTL
//	52      8      pzxid
type StatPersisted struct {
	Czxid, Mzxid, Ctime, Mtime  int64
	Version, Cversion, Aversion int32
	EphemeralOwner, Pzxid       int64
}

// StatPersisted reads one.
func (d *Decoder) StatPersisted() StatPersisted {
	return StatPersisted{
		Czxid: d.Long("czxid"), Mzxid: d.Long("mzxid"), Ctime: d.Long("ctime"), Mtime: d.Long("mtime"),
		Version: d.Int("version"), Cversion: d.Int("cversion"), Aversion: d.Int("aversion"),
		EphemeralOwner: d.Long("ephemeralOwner"), Pzxid: d.Long("pzxid"),
	}
}

// TxnHeader is the beginning of every transaction in a server's log:
//
//	offset  width  meaning
//	0       8      the client's session
//	8       4      the request's xid
//	12      8      zxid
//	20      8      time, in milliseconds since 1970
//	28      4      operation, an [OpCode]
type TxnHeader struct {
	Session    int64
	Cxid       int32
	Zxid, Time int64
	Op         OpCode
}

// TxnHeaderLen is the width of a TxnHeader, in bytes.
const TxnHeaderLen = 32

// TxnHeader reads one.
func (d *Decoder) TxnHeader() TxnHeader {
	return TxnHeader{Session: d.Long("clientId"), Cxid: d.Int("cxid"), Zxid: d.Long("zxid"), Time: d.Long("time"), Op: OpCode(d.Int("type"))}
}
