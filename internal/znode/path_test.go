package znode_test

import (
	"errors"
	"testing"

	"mrtq/internal/znode"
)

// oddPaths are paths and the errors that ValidatePath returns for them, "" if
// none. Scenario paths of harness/minizk has what Apache's server says of such paths.
var oddPaths = []struct{ path, want string }{
	{"/", ""},
	{"/a", ""},
	{"/a b", ""},
	{"/ ", ""},
	{"/...", ""},
	{"/.a", ""},
	{"/a.", ""},
	{"/a../b", ""},
	{"/~", ""},
	{"/\u00a0", ""},
	{"/日本", ""},
	{"/\ud7ff", ""},
	{"/\uf900", ""},
	{"/\uffef", ""},
	{"", `invalid znode path "": it must start with /`},
	{"a", `invalid znode path "a": it must start with /`},
	{"a/b", `invalid znode path "a/b": it must start with /`},
	{"//", `invalid znode path "//": it has an empty element`},
	{"/a/", `invalid znode path "/a/": it has an empty element`},
	{"//a", `invalid znode path "//a": it has an empty element`},
	{"/a//b", `invalid znode path "/a//b": it has an empty element`},
	{"/.", `invalid znode path "/.": relative elements are not allowed`},
	{"/..", `invalid znode path "/..": relative elements are not allowed`},
	{"/a/.", `invalid znode path "/a/.": relative elements are not allowed`},
	{"/a/./b", `invalid znode path "/a/./b": relative elements are not allowed`},
	{"/a/../b", `invalid znode path "/a/../b": relative elements are not allowed`},
	{"/a\x00", `invalid znode path "/a\x00": character U+0000 is not allowed`},
	{"/\x01", `invalid znode path "/\x01": character U+0001 is not allowed`},
	{"/a\n", `invalid znode path "/a\n": character U+000A is not allowed`},
	{"/\x1f", `invalid znode path "/\x1f": character U+001F is not allowed`},
	{"/\x7f", `invalid znode path "/\x7f": character U+007F is not allowed`},
	{"/\u0080", `invalid znode path "/\u0080": character U+0080 is not allowed`},
	{"/\u009f", `invalid znode path "/\u009f": character U+009F is not allowed`},
	{"/\ue000", `invalid znode path "/\ue000": character U+E000 is not allowed`},
	{"/\uf8ff", `invalid znode path "/\uf8ff": character U+F8FF is not allowed`},
	{"/\ufff0", `invalid znode path "/\ufff0": character U+FFF0 is not allowed`},
	{"/\ufffd", `invalid znode path "/�": character U+FFFD is not allowed`},
	{"/\uffff", `invalid znode path "/\uffff": character U+FFFF is not allowed`},
	{"/😀", `invalid znode path "/😀": character U+1F600 is not allowed`},
	{"/\xff", `invalid znode path "/\xff": it is not UTF-8`},
	{"/\xed\xa0\x80", `invalid znode path "/\xed\xa0\x80": it is not UTF-8`},
}

func TestValidatePath(t *testing.T) {
	for _, tc := range oddPaths {
		err := znode.ValidatePath(tc.path)
		if got := message(err); got != tc.want {
			t.Errorf("%q:\ngot  %s\nwant %s", tc.path, got, tc.want)
		}
		if err != nil && !errors.Is(err, znode.ErrPath) {
			t.Errorf("%q: %v is not an ErrPath", tc.path, err)
		}
	}
}

func TestPathParts(t *testing.T) {
	for _, tc := range []struct{ path, parent, name string }{
		{"/", "", ""}, {"/a", "/", "a"}, {"/a/b", "/a", "b"}, {"/a/b/c", "/a/b", "c"},
	} {
		if p, n := znode.Parent(tc.path), znode.Name(tc.path); p != tc.parent || n != tc.name {
			t.Errorf("%s: parent %q, name %q", tc.path, p, n)
		}
		if tc.path != "/" && znode.Join(tc.parent, tc.name) != tc.path {
			t.Errorf("Join(%q, %q) = %q", tc.parent, tc.name, znode.Join(tc.parent, tc.name))
		}
	}
	for _, tc := range []struct {
		path, root string
		want       bool
	}{
		{"/", "/", true}, {"/a", "/", true}, {"/a", "/a", true}, {"/a/b", "/a", true},
		{"/ab", "/a", false}, {"/", "/a", false}, {"/b", "/a", false},
	} {
		if got := znode.Within(tc.path, tc.root); got != tc.want {
			t.Errorf("Within(%s, %s) = %t", tc.path, tc.root, got)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
