package zkconn_test

import (
	"mrtq/internal/zkconn"
	"reflect"
	"testing"
)

func TestParseAddress(t *testing.T) {
	for _, tc := range []struct {
		in, out, chroot string
		servers         []string
	}{
		{"zk:2181", "zk:2181", "", []string{"zk:2181"}},
		{"zk", "zk:2181", "", []string{"zk:2181"}},
		{"zk/", "zk:2181", "", []string{"zk:2181"}},
		{"a:1,b, c:65535/x/y", "a:1,b:2181,c:65535/x/y", "/x/y", []string{"a:1", "b:2181", "c:65535"}},
		{"a:1/x/", "a:1/x", "/x", []string{"a:1"}},
		{"[::1]:99", "[::1]:99", "", []string{"[::1]:99"}},
		{"[::1]/x", "[::1]:2181/x", "/x", []string{"[::1]:2181"}},
		{"127.0.0.1", "127.0.0.1:2181", "", []string{"127.0.0.1:2181"}},
	} {
		a, err := zkconn.ParseAddress(tc.in)
		if err != nil || !reflect.DeepEqual(a, zkconn.Address{tc.servers, tc.chroot}) || a.String() != tc.out {
			t.Errorf("%q: %+v (%s), %v", tc.in, a, a, err)
		}
	}
}

func TestParseAddressErrors(t *testing.T) {
	const form = "; expected host:port[,host:port…][/chroot]"
	for _, tc := range []struct{ in, want string }{
		{"", `address "": an empty host` + form},
		{"/x", `address "/x": an empty host` + form},
		{"a,,b", `address "a,,b": an empty host` + form},
		{":2181", `address ":2181": an empty host in ":2181"` + form},
		{"[]:2181", `address "[]:2181": an empty host in "[]:2181"` + form},
		{"a:", `address "a:": bad port in "a:": expected 1 to 65535` + form},
		{"a:0", `address "a:0": bad port in "a:0": expected 1 to 65535` + form},
		{"a:65536", `address "a:65536": bad port in "a:65536": expected 1 to 65535` + form},
		{"a:http", `address "a:http": bad port in "a:http": expected 1 to 65535` + form},
		{"::1", `address "::1": host "::1": address ::1: too many colons in address` + form},
		{"[::1", `address "[::1": host "[::1": address [::1: missing ']' in address` + form},
		{"http://a:1", `address "http://a:1": it begins with "http://", which is no part of a ZooKeeper address` + form},
		{"zk://a:1/x", `address "zk://a:1/x": it begins with "zk://", which is no part of a ZooKeeper address` + form},
		{"a:1//x", `address "a:1//x": chroot: invalid znode path "//x": it has an empty element`},
		{"a:1/x//", `address "a:1/x//": chroot: invalid znode path "/x/": it has an empty element`},
		{"a:1/../x", `address "a:1/../x": chroot: invalid znode path "/../x": relative elements are not allowed`},
	} {
		_, err := zkconn.ParseAddress(tc.in)
		wantMessage(t, err, tc.want)
	}
}
