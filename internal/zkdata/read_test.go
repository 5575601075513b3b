package zkdata_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/internal/zkdata"
	"mrtq/internal/znode"
)

// The history of most tests: transactions 1 to 4 in one log, 5 to 7 in the
// next, and a snapshot before each.
var (
	history  = []jute{openSession(1), create(2, "/a", "one", 1), create(3, "/a/b", "two", 1), set(4, "/a", "three", 1), create(5, "/c", "four", 2), remove(6, "/a/b"), create(7, "/d", "", 3)}
	midNodes = append(rootIn(1, 2),
		znodeIn{path: "/a", data: "three", czxid: 2, pzxid: 3, cversion: 1, version: 1, acl: -1},
		znodeIn{path: "/a/b", data: "two", czxid: 3, pzxid: 3, acl: 1})
)

func usual() files {
	return files{
		"snapshot.0": snapshotOf(rootIn(0, 0)...),
		"log.1":      logOf(history[:4]...),
		"snapshot.4": snapshotOf(midNodes...),
		"log.5":      logOf(history[4:]...),
	}
}

// read is the tree of a directory, paths and data, and the messages.
func read(t testing.TB, place string) (tree, said string, err error) {
	t.Helper()
	p, err := zkdata.ParsePlace(place)
	if err != nil {
		t.Fatal(err)
	}
	var news []string
	d, err := zkdata.Read(t.Context(), p, zkdata.Options{Say: func(s string) { news = append(news, s) }})
	said = strings.Join(news, "\n")
	if err != nil {
		return "", said, err
	}
	var list []string
	for n := range d.Tree.Nodes(cmp.Or(p.Chroot, "/")) {
		list = append(list, fmt.Sprintf("%s=%s", n.Path, n.Data))
	}
	return fmt.Sprintf("%#x %s", d.Zxid, strings.Join(list, " ")), said, nil
}

const (
	after4 = "0x4 /= /a=three /a/b=two"
	after5 = "0x5 /= /a=three /a/b=two /c=four"
	after6 = "0x6 /= /a=three /c=four"
	after7 = "0x7 /= /a=three /c=four /d="
)

// with is the usual directory, in which some files have other content or are
// missing.
func with(change files) files {
	f := usual()
	for name, data := range change {
		if data == nil {
			delete(f, name)
		} else {
			f[name] = data
		}
	}
	return f
}

func TestRead(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files files
		want  string
		said  string
	}{
		{"snapshot and logs", usual(), after7, ""},
		{"version-2 inside", files{"version-2/snapshot.0": snapshotOf(rootIn(0, 0)...), "version-2/log.1": logOf(history...)}, after7, ""},
		{"one snapshot, all logs", with(files{"snapshot.4": nil}), after7, ""},
		{"no snapshot, logs from the beginning", with(files{"snapshot.0": nil, "snapshot.4": nil}), after7, ""},
		{"a new server", files{"snapshot.0": snapshotOf(rootIn(0, 0)...)}, "0x0 /=", ""},
		{"a log without entries", with(files{"log.8": logOf()}), after7, ""},
		{"a log without entries after the snapshot", with(files{"log.5": logOf()}), after4, ""},
		{"an empty last log", with(files{"log.8": {}}), after7, ""},
		{"no zeros behind the end", with(files{"log.5": logOf(history[4:]...)[:len(logOf(history[4:]...))-300]}), after7, ""},
		{"the last entry half written", with(files{"log.5": logOf(history[4:]...)[:len(logOf(history[4:]...))-310]}), after6,
			"DIR/log.5 ends inside a transaction, at byte 160: it is ignored, as a server would ignore it; the last complete one is 0x6"},
		{"a half-written snapshot", with(files{"snapshot.7": usual()["snapshot.4"][:100]}), after7,
			"a snapshot is not complete: DIR/snapshot.7 at byte 100: the file ends here, inside a znode's data\nDIR/snapshot.4 is used instead, with the later transactions"},
		{"a snapshot with a wrong checksum", with(files{"snapshot.4": append(usual()["snapshot.4"][:20:20], append(jute{9}, usual()["snapshot.4"][21:]...)...)}), after7,
			"a snapshot is not complete: DIR/snapshot.4 at byte 520: the checksum is f674382, and the bytes before it have 20fb438b\nDIR/snapshot.0 is used instead, with the later transactions"},
		{"the error of an unreadable request has no zxid", with(files{"log.5": logOf(history[4], txn(5, -1, jute{}.int(-5)), history[5], history[6])}), after7, ""},
		{"a new epoch", with(files{"log.5": logOf(history[4:]...), "log.100000001": logOf(create(0x100000001, "/e", "", 4)), "log.300000001": logOf(remove(0x300000001, "/e"))}),
			strings.Replace(after7, "0x7", "0x300000001", 1), ""},
		{"a version after -2", files{"snapshot.1": snapshotOf(append(rootIn(1, 1), znodeIn{path: "/a", czxid: 1, version: -2, acl: -1})...), "log.1": logOf(openSession(1), set(2, "/a", "x", 0))}, "0x2 /= /a=x", ""},
		{"other files", with(files{"acceptedEpoch": jute("1"), "log.txt": jute("x"), "snapshot": jute("x"), "logs.1": jute("x")}), after7, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := tc.files.write(t)
			got, said, err := read(t, dir)
			said = strings.ReplaceAll(said, dir, "DIR")
			if err != nil || got != tc.want || said != tc.said {
				t.Errorf("%v\n got %s\nwant %s\nsaid %s\nwant %s", err, got, tc.want, said, tc.said)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	long := usual()["log.5"]
	const (
		copyAgain  = "copy the directory again, snapshots first and logs after them, or read another member's"
		giveLogDir = "if the server has a dataLogDir, give it too, as DIR,LOGDIR; otherwise " + copyAgain
		another    = "read another member's directory, or the server itself"
		copied     = "if it was copied while the server wrote to it, copy it again; otherwise " + another
		dataDir    = "give the server's dataDir, or the version-2 inside it"
	)
	for _, tc := range []struct {
		name  string
		files files
		kind  error
		want  string
	}{
		{"snappy", with(files{"snapshot.6.snappy": jute("x")}), errors.ErrUnsupported, "DIR/snapshot.6.snappy: it is packed with snappy, which mrtq doesn't read; read the server itself"},
		{"nothing", files{"x": jute("x")}, zkdata.ErrNoData, "DIR: it holds no file named snapshot.ZXID or log.ZXID; " + dataDir},
		{"no log", with(files{"log.1": nil, "log.5": nil}), zkdata.ErrNoData, "DIR: it holds no transaction log (log.ZXID), so what came after snapshot.4 is not known; " + giveLogDir},
		{"no snapshot", files{"log.5": usual()["log.5"]}, zkdata.ErrNoData, "DIR: it holds no snapshot, and the first log, log.5, is not from the beginning; give the server's dataDir, and if it has a dataLogDir that too: DIR,LOGDIR"},
		{"no complete snapshot", with(files{"snapshot.0": jute("x"), "snapshot.4": jute("ZKSM....")}), zkdata.ErrCorrupt,
			"DIR: none of 2 snapshots is complete; the newest: DIR/snapshot.4 at byte 0: it begins with 5a4b534d, expected 5a4b534e (ZKSN, a snapshot); " + copyAgain},
		{"a missing log", with(files{"log.5": nil, "log.6": logOf(history[5:]...)}), zkdata.ErrGap,
			"DIR/log.6 at byte 16: transaction 0x6 comes right after 0x4: the transactions between them are missing; " + giveLogDir},
		{"a missing entry", with(files{"log.5": logOf(history[4], history[6])}), zkdata.ErrGap,
			"DIR/log.5 at byte 107: transaction 0x7 comes right after 0x5: the transactions between them are missing; " + giveLogDir},
		{"logs older than the snapshot", with(files{"log.1": logOf(history[:3]...), "log.5": nil}), zkdata.ErrGap,
			"DIR/snapshot.4: no log holds its last transaction, 0x4, or a later one; " + giveLogDir + "; a member that got this snapshot from its leader can't be read before it has logged a transaction"},
		{"a snapshot of a busy server without the log", with(files{"snapshot.4": snapshotOf(append(midNodes[:4:4], znodeIn{path: "/x", czxid: 9, acl: -1})...)}), zkdata.ErrGap,
			"DIR/snapshot.4: it was written while the server went on to transaction 0x9, and the logs end with 0x7; " + giveLogDir},
		{"a later epoch without its first transaction", with(files{"log.100000002": logOf(create(0x100000002, "/e", "", 4))}), zkdata.ErrGap,
			"DIR/log.100000002 at byte 16: transaction 0x100000002 comes right after 0x7: the transactions between them are missing; " + giveLogDir},
		{"out of order", with(files{"log.5": logOf(history[4], history[5], history[4])}), zkdata.ErrCorrupt,
			"DIR/log.5 at byte 160: transaction 0x5 comes after 0x6; " + copied},
		{"a damaged entry", with(files{"log.5": changed(long, 60)}), zkdata.ErrCorrupt,
			"DIR/log.5 at byte 16: a transaction's checksum is c316081e, and the log says b76807dd; " + copied},
		{"a damaged length", with(files{"log.5": changed(long, 26)}), zkdata.ErrCorrupt,
			"DIR/log.5 at byte 16: there is no complete transaction here, and 0x6 follows at byte 107; " + copied},
		{"a negative length", with(files{"log.5": append(append(long[:24:24], 0xff), long[25:]...)}), zkdata.ErrCorrupt,
			"DIR/log.5 at byte 24: a transaction's length is -16777138; " + copied},
		{"zeros in the middle", with(files{"log.5": append(append(long[:16:16], make([]byte, 91)...), long[107:]...)}), zkdata.ErrCorrupt,
			"DIR/log.5 at byte 16: there is no complete transaction here, and 0x6 follows at byte 107; " + copied},
		{"an empty log before others", with(files{"log.1": {}, "snapshot.4": nil}), zkdata.ErrCorrupt, "DIR/log.1 at byte 0: it is empty, and DIR/log.5 follows; " + another},
		{"half a header", with(files{"log.5": long[:9]}), zkdata.ErrCorrupt, "DIR/log.5 at byte 0: the header is 9 bytes long, expected 16; " + copied},
		{"not a log", with(files{"log.5": jute("PK\x03\x04............")}), zkdata.ErrCorrupt, "DIR/log.5 at byte 0: it begins with 504b0304, expected 5a4b4c47 (ZKLG, a transaction log); " + copied},
		{"a later format", with(files{"log.5": append(jute("ZKLG").int(3), long[8:]...)}), zkdata.ErrCorrupt, "DIR/log.5 at byte 4: its format is version 3, expected 2; " + copied},
		{"a wrong name", with(files{"log.5": nil, "log.3": long}), zkdata.ErrCorrupt, "DIR/log.3 at byte 16: its first transaction is 0x5, and its name says 0x3; " + copied},
		{"an unknown type", with(files{"log.8": logOf(txn(8, 99, nil))}), zkdata.ErrCorrupt,
			"DIR/log.8 at byte 16: transaction 0x8 (op 99): in its byte 32: there is no such transaction in ZooKeeper 3.4 to 3.9; " + copied},
		{"a setACL in a multi", with(files{"log.8": logOf(txn(8, 14, jute{}.int(1).int(7).buffer(jute{}.text("/a").open().int(1))))}), zkdata.ErrCorrupt,
			"DIR/log.8 at byte 16: transaction 0x8 (multi): in its byte 81: part 1 (setACL): in its byte 0: setACL can't be a part of a multi; " + copied},
		{"an entry too short for its type", with(files{"log.8": logOf(txn(8, 5, jute{}.text("/a")))}), zkdata.ErrCorrupt,
			"DIR/log.8 at byte 16: transaction 0x8 (setData): in its byte 38: data ends too early; " + copied},
		{"an entry too long for its type", with(files{"log.8": logOf(txn(8, 2, jute{}.text("/a").int(1)))}), zkdata.ErrCorrupt,
			"DIR/log.8 at byte 16: transaction 0x8 (delete): in its byte 38: 4 bytes are left over; " + copied},
		{"no path", with(files{"log.8": logOf(create(8, "a", "", 1))}), zkdata.ErrCorrupt,
			`DIR/log.8 at byte 16: transaction 0x8 (create): in its byte 37: "a" is not a znode's path; ` + copied},
		{"created twice", with(files{"log.8": logOf(create(8, "/c", "", 4))}), zkdata.ErrGap,
			`DIR/log.8 at byte 16: transaction 0x8 (create "/c") can't be applied: it exists since transaction 0x5, so its deletion is missing; ` + another},
		{"a child that was never counted", with(files{"log.8": logOf(create(8, "/e", "", 5))}), zkdata.ErrGap,
			`DIR/log.8 at byte 16: transaction 0x8 (create "/e") can't be applied: it is child 5 of its parent, and 3 were created before, so transactions are missing; ` + another},
		{"a version left out", with(files{"log.8": logOf(set(8, "/a", "", 3))}), zkdata.ErrGap,
			`DIR/log.8 at byte 16: transaction 0x8 (setData "/a") can't be applied: it goes from version 1 to 3, so transactions are missing; ` + another},
		{"children left when it is deleted", with(files{"log.8": logOf(create(8, "/a/x", "", 2), remove(9, "/a"))}), zkdata.ErrGap,
			`DIR/log.8 at byte 105: transaction 0x9 (delete "/a") can't be applied: it has 1 children, so their deletion is missing; ` + another},
		{"an ACL that isn't listed", with(files{"snapshot.4": snapshotOf(append(midNodes[:3:3], znodeIn{path: "/a", czxid: 2, cversion: 1, version: 1, acl: 5}, znodeIn{path: "/a/b", acl: 1})...)}), zkdata.ErrCorrupt,
			"DIR/snapshot.4: /a has an ACL that the snapshot doesn't list; " + another},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := tc.files.write(t)
			_, err := zkdata.Read(t.Context(), zkdata.Place{Dir: dir}, zkdata.Options{})
			if err == nil {
				t.Fatal("the directory was read without an error")
			}
			if got := strings.ReplaceAll(err.Error(), dir, "DIR"); got != tc.want {
				t.Errorf("\n got %s\nwant %s", got, tc.want)
			}
			if e := (*zkdata.Error)(nil); !errors.Is(err, tc.kind) || !errors.As(err, &e) {
				t.Errorf("kind %v", errors.Unwrap(err))
			}
		})
	}
}

// changed is data with one bit of one byte flipped.
func changed(data jute, at int) jute {
	out := slices.Clone(data)
	out[at] ^= 0x41
	return out
}

// TestDamageIsNeverIgnored cuts each file at each byte, and changes each byte.
// The result must be the tree, or the tree before the last entry if that is
// damaged, and never any other tree.
func TestDamageIsNeverIgnored(t *testing.T) {
	dir := usual().write(t)
	for name, whole := range usual() {
		lastEntry := 16
		if name == "log.5" {
			lastEntry = 160
		}
		try := func(how string, at int, data jute) {
			t.Helper()
			files{name: data}.writeTo(t, dir)
			got, _, err := read(t, dir)
			switch {
			case err != nil:
			case got == after7:
			case name == "log.5" && how == "cut" && (got == after4 || got == after5 || got == after6):
				// The end of the newest log was not written, so the server leaves it
				// out.
			case name == "log.5" && at >= lastEntry && got == after6:
			default:
				t.Errorf("%s %s at byte %d: %s", name, how, at, got)
			}
		}
		for at := range whole {
			try("cut", at, whole[:at])
			try("changed", at, changed(whole, at))
		}
		files{name: whole}.writeTo(t, dir)
	}
}

// TestMissingFiles leaves out each set of files. The result must be the tree,
// or what the newest of the other files says.
func TestMissingFiles(t *testing.T) {
	names := slices.Sorted(maps.Keys(usual()))
	want := map[string]string{
		"log.1 log.5 snapshot.0 snapshot.4": after7, "log.1 log.5 snapshot.0": after7, "log.1 log.5 snapshot.4": after7,
		"log.1 log.5": after7, "log.5 snapshot.0 snapshot.4": after7, "log.5 snapshot.4": after7,
		// Nothing shows that there was another log.
		"log.1 snapshot.0 snapshot.4": after4, "log.1 snapshot.0": after4, "log.1 snapshot.4": after4, "log.1": after4,
		"snapshot.0": "0x0 /=",
	}
	for set := range 1 << len(names) {
		f, kept := files{}, []string{}
		for i, name := range names {
			if set&(1<<i) != 0 {
				f[name], kept = usual()[name], append(kept, name)
			}
		}
		got, _, err := read(t, f.write(t))
		if w := want[strings.Join(kept, " ")]; got != w || (err == nil) != (w != "") {
			t.Errorf("%v: %q, %v; want %q", kept, got, err, w)
		}
	}
}

func TestPlaces(t *testing.T) {
	one, logs := t.TempDir(), t.TempDir()
	for name, data := range usual() {
		if strings.HasPrefix(name, "log") {
			files{"version-2/" + name: data}.writeTo(t, logs)
		} else {
			files{"version-2/" + name: data}.writeTo(t, one)
		}
	}
	whole := usual().write(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(whole, link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(whole, "log.1")
	for _, tc := range []struct{ place, want, err string }{
		{one + "," + logs, after7, ""},
		{one + "/version-2," + logs + "/version-2", after7, ""},
		{whole + "," + whole, after7, ""},
		{link + "," + whole, after7, ""},
		{whole + "#", after7, ""},
		{whole + "#/", after7, ""},
		{whole + "#/a", "0x7 /a=three", ""},
		{one + "," + logs + "#/c", "0x7 /c=four", ""},
		{whole + "#/none", "", whole + ": /none does not exist; give the path of a znode after the #"},
		{logs + "," + one, "", logs + "/version-2: it holds transaction logs, although the logs should be in " + one + "/version-2; give dataDir and dataLogDir as they are in zoo.cfg, in this order: DIR,LOGDIR"},
		{one + "," + whole, "", whole + ": it holds snapshots, although it should hold only logs; give dataDir and dataLogDir as they are in zoo.cfg, in this order: DIR,LOGDIR"},
		{file, "", file + ": this is not a folder; give the server's dataDir, or the version-2 inside it"},
		{whole + "/none", "", whole + "/none: no such file or directory"},
	} {
		got, _, err := read(t, tc.place)
		if got != tc.want || (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
			t.Errorf("%s: %q, %v", tc.place, got, err)
		}
	}
	for text, want := range map[string]string{
		"":        "an empty folder name; expected DIR[,LOGDIR][#/chroot]",
		"a,":      "an empty folder name; expected DIR[,LOGDIR][#/chroot]",
		"a,b,c":   "more than two folders; expected DIR[,LOGDIR][#/chroot]",
		"#/a":     "an empty folder name; expected DIR[,LOGDIR][#/chroot]",
		"a#/b//c": `chroot: invalid znode path "/b//c": it has an empty element`,
		"a#/../b": `chroot: invalid znode path "/../b": relative elements are not allowed`,
	} {
		if p, err := zkdata.ParsePlace(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	for text, want := range map[string]zkdata.Place{
		"a":                   {Dir: "a"},
		"a,b":                 {Dir: "a", LogDir: "b"},
		"a#/b":                {Dir: "a", Chroot: "/b"},
		"a,b#/c/d":            {Dir: "a", LogDir: "b", Chroot: "/c/d"},
		"/var/lib/zoo#keeper": {Dir: "/var/lib/zoo#keeper"},
		"a#b#/c":              {Dir: "a#b", Chroot: "/c"},
	} {
		if got, err := zkdata.ParsePlace(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// TestTransactions replays each type, as each version writes it.
func TestTransactions(t *testing.T) {
	v := func(zxid int64, typ int32, path string, rest jute) jute {
		return txn(zxid, typ, append(jute{}.text(path).text("x").open(), rest...))
	}
	part := func(typ int32, body jute) jute { return jute{}.int(typ).buffer(body) }
	multi := func(zxid int64, parts ...jute) jute {
		j := jute{}.int(int32(len(parts)))
		for _, p := range parts {
			j = append(j, p...)
		}
		return txn(zxid, 14, j)
	}
	someDigest := jute{}.int(1).long(77)
	for _, tc := range []struct {
		name string
		txns []jute
		want string
	}{
		{"create, before 3.4", []jute{v(1, 1, "/a", jute{}.bool(false)), v(2, 1, "/b", jute{}.bool(true))}, "/ cversion 2 children 3, /a x, /b x owner 7"},
		{"create, create2", []jute{create(1, "/a", "x", 1), v(2, 15, "/b", jute{}.bool(true).int(2))}, "/ cversion 2 children 3, /a x, /b x owner 7"},
		{"with a digest", []jute{append(create(1, "/a", "x", 1), someDigest...), append(v(2, 15, "/b", jute{}.bool(true).int(2)), someDigest...)}, "/ cversion 2 children 3, /a x, /b x owner 7"},
		{"container", []jute{v(1, 19, "/a", jute{}.int(1))}, "/ cversion 1 children 2, /a x"},
		{"ttl", []jute{v(1, 21, "/a", jute{}.int(1).long(60000))}, "/ cversion 1 children 2, /a x"},
		{"delete, deleteContainer", []jute{create(1, "/a", "x", 1), create(2, "/b", "x", 2), remove(3, "/a"), txn(4, 20, jute{}.text("/b"))}, "/ cversion 2 children 1"},
		{"setData", []jute{create(1, "/a", "", 1), set(2, "/a", "x", 1), txn(3, 5, jute{}.text("/").text("root").int(1))}, "/ root version 1 cversion 1 children 2, /a x version 1"},
		{"null data", []jute{txn(1, 1, jute{}.text("/a").null().open().bool(false).int(1))}, "/ cversion 1 children 2, /a null"},
		{"setACL", []jute{create(1, "/a", "x", 1), txn(2, 7, jute{}.text("/a").int(1).int(1).text("ip").text("::1").int(1))}, "/ cversion 1 children 2, /a x aversion 1 acl [{1 ip ::1}]"},
		{"null ACL", []jute{txn(1, 1, jute{}.text("/a").text("x").null().bool(false).int(1))}, "/ cversion 1 children 2, /a x"},
		{"error, check, reconfig", []jute{txn(1, -1, jute{}.int(-101)), txn(2, 13, jute{}.text("/a").int(4)), txn(3, 16, jute{}.text("/zookeeper/config").text("x").int(-1))}, "/ children 1"},
		{"multi", []jute{multi(1, part(1, jute{}.text("/a").text("x").open().bool(false).int(1)), part(5, jute{}.text("/a").text("y").int(1)),
			part(13, jute{}.text("/a").int(1)), part(15, jute{}.text("/a/b").text("x").open().bool(false).int(1)), part(2, jute{}.text("/a/b")), part(19, jute{}.text("/c").text("x").open().int(2)),
			part(21, jute{}.text("/t").text("x").open().int(3).long(9)))}, "/ cversion 3 children 4, /a y version 1 cversion 1, /c x, /t x"},
		{"a failed multi", []jute{multi(1, part(1, jute{}.text("/a").text("x").open().bool(false).int(1)), part(-1, jute{}.int(-101)))}, "/ children 1"},
		{"closeSession, before 3.6", []jute{openSession(1), createEphemeral(2, "/a", 1), create(3, "/b", "x", 2), txn(4, -11, nil)}, "/ cversion 2 children 2, /b x"},
		{"closeSession without its list", []jute{openSession(1), createEphemeral(2, "/a", 1), txn(3, -11, someDigest)}, "/ cversion 1 children 1"},
		{"closeSession with its list", []jute{openSession(1), createEphemeral(2, "/a", 1), createEphemeral(3, "/b", 2), txn(4, -11, append(jute{}.int(2).text("/a").text("/b"), someDigest...))}, "/ cversion 2 children 1"},
		{"closeSession whose list is as long as a digest", []jute{openSession(1), createEphemeral(2, "/abc", 1), txn(3, -11, jute{}.int(1).text("/abc"))}, "/ cversion 1 children 1"},
		{"closeSession with an empty list", []jute{openSession(1), createEphemeral(2, "/a", 1), txn(3, -11, jute{}.int(0))}, "/ cversion 1 children 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := files{"snapshot.0": snapshotOf(rootIn(0, 0)...), "log.1": logOf(tc.txns...)}.write(t)
			d, err := zkdata.Read(t.Context(), zkdata.Place{Dir: dir}, zkdata.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for n := range d.Tree.Nodes("/") {
				list = append(list, shown(n))
			}
			if got := strings.Join(list, ", "); got != tc.want {
				t.Errorf("\n got %s\nwant %s", got, tc.want)
			}
		})
	}
}

// shown are the values of a znode that are not zero. cversion counts creates.
func shown(n znode.Node) string {
	s := n.Path
	if n.Data == nil {
		s += " null"
	} else if len(n.Data) > 0 {
		s += " " + string(n.Data)
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"version", int64(n.Stat.Version)}, {"cversion", int64(n.Stat.Cversion+n.Stat.NumChildren) / 2}, {"children", int64(n.Stat.NumChildren)},
		{"aversion", int64(n.Stat.Aversion)}, {"owner", n.Stat.EphemeralOwner},
	} {
		if f.value != 0 {
			s += fmt.Sprintf(" %s %d", f.name, f.value)
		}
	}
	if !znode.IsOpenACL(n.ACL) {
		s += fmt.Sprintf(" acl %v", n.ACL)
	}
	return s
}

// TestTrailers: servers since 3.6 write at which transaction a snapshot was finished. Before that
// one, a znode may be missing because of a later transaction; after it, none may.
func TestTrailers(t *testing.T) {
	mid, busy := snapshotOf(midNodes...), snapshotOf(append(midNodes[:4:4], znodeIn{path: "/a/b", data: "two", czxid: 3, pzxid: 3, acl: 1})...)
	deleted := func(snapshot jute) files {
		return files{"snapshot.4": snapshot, "log.5": logOf(history[4], remove(6, "/none"))}
	}
	const missing = `DIR/log.5 at byte 107: transaction 0x6 (delete "/none") can't be applied: the znode does not exist; read another member's directory, or the server itself`
	for _, tc := range []struct {
		name  string
		files files
		want  string
		err   string
	}{
		{"3.6", files{"snapshot.4": mid.withDigest(4, sum4)}, after7, ""},
		{"3.9", files{"snapshot.4": mid.withDigest(4, sum4).withLast(4)}, after7, ""},
		{"3.9 without digests", files{"snapshot.4": mid.withLast(4)}, after7, ""},
		{"an empty digest", files{"snapshot.4": mid.withDigest(0, 0)}, after7, ""},
		{"a digest in hexadecimal", files{"snapshot.4": mid.long(4).int(1).text("ab12").seal()}, after7, ""},
		{"while the server went on", files{"snapshot.4": busy.withDigest(5, sum5)}, after7, ""},
		{"a transaction that the logs lack", files{"snapshot.4": busy.withDigest(9, 99)}, "",
			"DIR/snapshot.4: it was written while the server went on to transaction 0x9, and the logs end with 0x7; if the server has a dataLogDir, give it too, as DIR,LOGDIR; otherwise copy the directory again, snapshots first and logs after them, or read another member's"},
		{"a znode is missing, before 3.6", deleted(mid), after5At6, ""},
		{"a znode is missing, an older digest", deleted(mid.withDigest(3, 99)), after5At6, ""},
		{"a znode is missing, finished before", deleted(mid.withLast(4)), "", missing},
		{"a znode is missing, the digest was before", deleted(mid.withDigest(4, sum4)), "", missing},
		{"a znode is missing, finished after", deleted(mid.withLast(6)), after5At6, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := with(tc.files).write(t)
			got, said, err := read(t, dir)
			text := ""
			if err != nil {
				text = strings.ReplaceAll(err.Error(), dir, "DIR")
			}
			if got != tc.want || text != tc.err || said != "" {
				t.Errorf("%s, said %q\n got %s\nwant %s (%s)", text, said, got, tc.want, tc.err)
			}
		})
	}
}

// The digests of the usual trees after transactions 4, 5 and 7.
var (
	sum4 = digestOf(midNodes...)
	sum5 = digestOf(append(rootIn(2, 5), midNodes[3:]...)...) + digestOf(newC)
	sum7 = digestOf(append(rootIn(3, 7), znodeIn{path: "/a", data: "three", czxid: 2, pzxid: 6, cversion: 1, version: 1}, newC, znodeIn{path: "/d", czxid: 7, pzxid: 7, time: 7000})...)
	newC = znodeIn{path: "/c", data: "four", czxid: 5, pzxid: 5, time: 5000}
)

// TestDigests compares trees with the digests that servers since 3.6 write. Only they show that logs
// are missing at the end of an epoch.
func TestDigests(t *testing.T) {
	mid := snapshotOf(midNodes...)
	busy := snapshotOf(append(midNodes[:4:4], znodeIn{path: "/a/b", data: "two", czxid: 3, pzxid: 3, acl: 1})...)
	foreign := snapshotOf(append(midNodes[:5:5], znodeIn{path: "/ä", czxid: 4, acl: -1})...)
	whole := []jute{digested(history[4], sum5), digested(history[5], 1), digested(history[6], sum7)}
	next := digested(openSession(0x100000001), sum7)
	differs := func(at string, zxid int64, have, want uint64) string {
		return fmt.Sprintf("DIR/%s: after transaction %#x the tree's digest is %x, and the server's was %x: transactions before it are missing, or what was read is not what the server had; read another member's directory, or the server itself", at, zxid, have, want)
	}
	const cant = "the tree's digest can't be compared: 1 znodes have names that are not ASCII, and how the server hashes those depends on its platform; if logs are missing at the end of an epoch, nothing shows it"
	for _, tc := range []struct {
		name      string
		files     files
		want      string
		err, said string
	}{
		{"of all transactions", files{"log.5": logOf(whole...), "log.100000001": logOf(next)}, "0x100000001" + after7[3:], "", ""},
		{"a gap at the end of an epoch", files{"log.5": logOf(whole[0]), "log.100000001": logOf(next)}, "", differs("log.100000001 at byte 16", 0x100000001, sum5, sum7), ""},
		{"a gap of a whole log", files{"log.5": nil, "log.100000001": logOf(next)}, "", differs("log.100000001 at byte 16", 0x100000001, sum4, sum7), ""},
		{"a gap, other transactions after it", files{"log.5": logOf(whole[0]), "log.100000001": logOf(openSession(0x100000001), digested(openSession(0x100000002), sum7), openSession(0x100000003))}, "",
			differs("log.100000001 at byte 65", 0x100000002, sum5, sum7), ""},
		{"a gap of a whole epoch", files{"log.5": logOf(whole[0]), "log.300000001": logOf(digested(openSession(0x300000001), sum7))}, "", differs("log.300000001 at byte 16", 0x300000001, sum5, sum7), ""},
		{"a gap in a directory without digests", files{"log.5": logOf(history[4]), "log.100000001": logOf(openSession(0x100000001))}, "0x100000001" + after5[3:], "", ""},
		{"a gap, names that are not ASCII", files{"snapshot.4": foreign, "log.5": logOf(whole[0]), "log.100000001": logOf(next)}, "0x100000001" + after5[3:] + " /ä=", "", cant},
		{"of the last transaction, wrong", files{"log.5": logOf(history[4], history[5], digested(history[6], 1))}, "", differs("log.5 at byte 160", 7, sum7, 1), ""},
		{"the server computed it wrongly once", files{"log.5": logOf(whole...)}, after7, "", ""},
		{"of another version", files{"log.5": logOf(append(history[4][:len(history[4]):len(history[4])], jute{}.int(1).long(1)...))}, after5, "", ""},
		{"of the snapshot, wrong", files{"snapshot.4": mid.withDigest(4, 1)}, "", differs("snapshot.4", 4, sum4, 1), ""},
		{"of the snapshot, wrong, the log's is right", files{"snapshot.4": mid.withDigest(4, 1), "log.5": logOf(whole...)}, after7, "", ""},
		{"older than the snapshot", files{"snapshot.4": mid.withDigest(3, 1)}, after7, "", ""},
		{"while the snapshot was written", files{"snapshot.4": busy.withDigest(5, sum5), "log.5": logOf(whole...)}, after7, "", ""},
		{"while the snapshot was written, wrong", files{"snapshot.4": busy.withDigest(5, 1)}, "", differs("snapshot.4", 5, sum5, 1), ""},
		{"names that are not ASCII", files{"snapshot.4": foreign.withDigest(4, 1)}, after7 + " /ä=", "", cant},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := with(tc.files).write(t)
			got, said, err := read(t, dir)
			text := ""
			if err != nil {
				text = strings.ReplaceAll(err.Error(), dir, "DIR")
			}
			if got != tc.want || text != tc.err || said != tc.said || (err != nil) != errors.Is(err, zkdata.ErrDigest) {
				t.Errorf("said %q\n got %s %s\nwant %s %s", said, got, text, tc.want, tc.err)
			}
		})
	}
}

const after5At6 = "0x6 /= /a=three /a/b=two /c=four"

// TestAFuzzySnapshot reads a snapshot that the server wrote while /a was
// deleted and recreated, with children. The snapshot has the later /a, and the
// log begins with the earlier one. For each transaction at which the server can
// have begun the snapshot, the result must be the log's tree.
func TestAFuzzySnapshot(t *testing.T) {
	log := logOf(openSession(1), create(2, "/a", "first", 1), create(3, "/a/x", "first", 1), set(4, "/a", "set", 1), remove(5, "/a/x"), remove(6, "/a"),
		create(7, "/a", "second", 2), createEphemeral(8, "/a/x", 1), set(9, "/a", "third", 1))
	snap := snapshotOf(append(rootIn(2, 7),
		znodeIn{path: "/a", data: "second", czxid: 7, pzxid: 8, cversion: 1, acl: -1, time: 7000}, znodeIn{path: "/a/x", czxid: 8, pzxid: 8, acl: 9, time: 8000, owner: 7})...)
	all := func(f files) (list []string, err error) {
		d, err := zkdata.Read(t.Context(), zkdata.Place{Dir: f.write(t)}, zkdata.Options{})
		if err != nil {
			return nil, err
		}
		for n := range d.Tree.Nodes("/") {
			list = append(list, fmt.Sprintf("%s %+v %s", n.Path, n.Stat, n.Data))
		}
		return list, nil
	}
	want, err := all(files{"log.1": log})
	if err != nil || len(want) != 3 {
		t.Fatalf("%q, %v", want, err)
	}
	for start := range 9 {
		got, err := all(files{fmt.Sprintf("snapshot.%d", start): snap, "log.1": log})
		if start == 8 { // the ACL of /a/x is in the transaction that created it
			if !errors.Is(err, zkdata.ErrCorrupt) {
				t.Errorf("from %d: %v", start, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("from %d: %v\n got %q\nwant %q", start, err, got, want)
		}
	}
}

// TestTransactionAfterZeros: the reader finds a transaction after zeros,
// wherever it begins.
func TestTransactionAfterZeros(t *testing.T) {
	first, next := logOf(history[4]), logOf(history[5])
	for i := range 80 {
		at := []int{4096, 8192}[i%2] - 20 + i/2
		log := append(first[:len(first)-300:len(first)-300], make([]byte, at)...)
		begins := len(log)
		log = append(log, next[16:]...)
		_, _, err := read(t, with(files{"log.5": log}).write(t))
		if want := fmt.Sprintf("0x6 follows at byte %d", begins); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestData: what Read returns, with a chroot and without.
func TestData(t *testing.T) {
	dir := usual().write(t)
	for chroot, want := range map[string]string{"": "[/ /a /c /d]", "/a": "[/ /a]"} {
		d, err := zkdata.Read(t.Context(), zkdata.Place{Dir: dir, Chroot: chroot}, zkdata.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Zxid != 7 || !d.Time.Equal(time.UnixMilli(7000)) || d.Snapshot != filepath.Join(dir, "snapshot.4") {
			t.Errorf("%d, %v, %s", d.Zxid, d.Time, d.Snapshot)
		}
		var got []string
		for n := range d.Tree.Nodes("/") {
			got = append(got, n.Path)
			want := znode.Stat{Czxid: 2, Mzxid: 2, Version: 1, Cversion: 2, DataLength: 5, Pzxid: 6}
			if n.Path == "/a" && (n.Stat != want || !znode.IsOpenACL(n.ACL)) {
				t.Errorf("%+v", n)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: got %v, want %s", chroot, got, want)
		}
	}
}
