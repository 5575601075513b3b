package screen

import (
	"bytes"
	"testing"
)

// A list that is written element by element is the same as one written as a whole.
func TestJSONList(t *testing.T) {
	for _, list := range [][]any{{}, {"a"}, {map[string]any{"x": []any{1, "two\nlines \u202e", map[string]any{}}, "y": nil}, 7, []any{}, "<&>"}} {
		var want, got bytes.Buffer
		if err := WriteJSON(&want, list); err != nil {
			t.Fatal(err)
		}
		l := NewJSONList(&got)
		for _, v := range list {
			if err := l.Add(v); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.End(); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("got\n%s\nwant\n%s", &got, &want)
		}
	}
}
