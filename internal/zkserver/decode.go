package zkserver

import (
	"fmt"
	"strings"

	"mrtq/internal/jute"
)

func decodeNothing(*request) {}

func decodeCreate(r *request) {
	r.create = r.d.CreateRequest(r.op)
	r.path = r.create.Path
}

func decodeVersion(r *request) {
	r.version = r.d.PathVersion()
	r.path = r.version.Path
	r.noPath = r.version.NullPath && r.op == jute.OpDelete
}

func decodeWatch(r *request) {
	r.watch = r.d.PathWatch()
	r.path, r.noPath = r.watch.Path, r.watch.NullPath
}

func decodeSet(r *request) {
	r.set = r.d.SetDataRequest()
	r.path = r.set.Path
}

func decodeSetACL(r *request) {
	r.setACL = r.d.SetACLRequest()
	r.path = r.setACL.Path
}

func decodePath(r *request) { r.path = r.d.String("path") }

// decodePrefix reads a string that may be null.
func decodePrefix(r *request) {
	r.prefix = r.d.NullString("path")
	if r.prefix != nil {
		r.path = *r.prefix
	}
}

func decodeSetWatches(r *request) { r.watches = r.d.SetWatchesRequest(r.op) }

func decodePathInt(r *request) {
	r.pathInt = r.d.PathInt()
	r.path = r.pathInt.Path
}

func decodeAuth(r *request) {
	r.auth = r.d.AuthRequest()
	r.path = r.auth.Scheme // never the secret
}

func decodeSasl(r *request) { r.stopReading = r.d.Buffer("token") == nil }

// decodeReconfig reads joining, leaving and new members, and the configuration's number. The
// server ignores them.
func decodeReconfig(r *request) {
	for _, field := range []string{"joiningServers", "leavingServers", "newMembers"} {
		r.d.NullString(field)
	}
	r.d.Long("curConfigId")
}

func decodeMulti(r *request) {
	r.ops = r.d.MultiOps()
	r.path = summary(r.ops)
}

// summaryOps is how many operations of a multi the log names.
const summaryOps = 8

func summary(ops []jute.MultiOp) string {
	var b strings.Builder
	for i := range ops {
		if i == summaryOps {
			fmt.Fprintf(&b, ", … %d in all", len(ops))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", ops[i].Op, ops[i].Path())
	}
	return b.String()
}
