package migrate

import "testing"

// InCommon keeps all words that the messages share, and nothing else.
func TestInCommon(t *testing.T) {
	for _, c := range []struct {
		want     string
		messages []string
	}{
		{"it is empty", []string{"it is empty", "it is empty"}},
		{"jobs that were done: … done, … still to do", []string{"jobs that were done: 2 done, 1 still to do", "jobs that were done: 5 done, 7 still to do", "jobs that were done: 5 done, 1 still to do"}},
		{"it is …: its mail is sent", []string{"it is Processing: its mail is sent", "it is Reporting: its mail is sent"}},
		{`type is …: want file or container`, []string{`type is "a \"b": want file or container`, `type is "c": want file or container`}},
		{`it … want a string`, []string{`it is missing: want a string`, `it has 3: want a string`, `it is 3, here: want a string`}},
		{"…", []string{"", "two words"}},
		{"a … a", []string{"a a", "a b a"}},
	} {
		got := c.messages[0]
		for _, m := range c.messages[1:] {
			got = InCommon(got, m)
		}
		if got != c.want {
			t.Errorf("%q have %q in common, want %q", c.messages, got, c.want)
		}
	}
}
