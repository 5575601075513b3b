package text

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestPlainJSON(t *testing.T) {
	type value struct {
		Path string `json:"path"`
		Data []byte `json:"data"`
		Stat struct {
			Small int32 `json:"small"`
		} `json:"stat"`
	}
	for text, want := range map[string]string{
		``:                       "unexpected end of JSON input",
		`{"path":"/a`:            "unexpected end of JSON input",
		`Dear reader`:            "invalid character 'D' looking for beginning of value",
		`{"path":` + "\x1b[2J":   `invalid character '\x1b' looking for beginning of value`,
		`[1]`:                    "a JSON array does not fit here",
		`{"path":5}`:             "path: a JSON number does not fit here",
		`{"data":"aGl!"}`:        "illegal base64 data at input byte 3",
		`{"stat":{"small":1.5}}`: "stat.small: a JSON number 1.5 does not fit here",
		`{"small":1}`:            `unknown field "small"`,
	} {
		var v value
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		err := dec.Decode(&v)
		if err == nil { // the decoder does not look at what follows
			err = json.Unmarshal([]byte(text), &v)
		}
		if got := PlainJSON(err); got == nil || got.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, got, want)
		}
	}
	other := errors.New("no space left")
	if PlainJSON(other) != other || PlainJSON(nil) != nil {
		t.Error("another error was changed")
	}
}
