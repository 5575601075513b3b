package text

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestPlainJSON(t *testing.T) {
	type inner struct {
		Small int32   `json:"small"`
		Size  uint16  `json:"size"`
		Share float64 `json:"share"`
		On    *bool   `json:"on"`
	}
	type value struct {
		Path  string         `json:"path"`
		Data  []byte         `json:"data"`
		Paths []string       `json:"paths"`
		Stat  inner          `json:"stat"`
		Many  map[string]int `json:"many"`
	}
	for text, want := range map[string]string{
		``:                                  "the JSON ends too early",
		`{"path":"/a`:                       "the JSON ends too early",
		`{"path":`:                          "the JSON ends too early",
		`Dear reader`:                       "this is not JSON: found 'D', expected a value",
		`{"path":'`:                         `this is not JSON: found '\'', expected a value`,
		`{"path":` + "\x1b[2J":              `this is not JSON: found '\x1b', expected a value`,
		`{path`:                             "this is not JSON: found 'p', expected a name in quotes",
		`{"path" "x"}`:                      `this is not JSON: found '"', expected a colon`,
		`{"path":"x" 1}`:                    "this is not JSON: found '1', expected a comma or }",
		`{"paths":["x" 1]}`:                 "this is not JSON: found '1', expected a comma or ]",
		`{"path":"\q"}`:                     "this is not JSON: found 'q' in string escape code",
		`{} {}`:                             "found '{' after the end of the JSON",
		`[1]`:                               "found a list, expected an object",
		`{"path":5}`:                        "path: found a number, expected a string",
		`{"path":{}}`:                       "path: found an object, expected a string",
		`{"data":5}`:                        "data: found a number, expected base64",
		`{"data":"aGl!"}`:                   "the text is not base64 (see its byte 3)",
		`{"paths":true}`:                    "paths: found true or false, expected a list",
		`{"paths":[1]}`:                     "paths: found a number, expected a string",
		`{"stat":[]}`:                       "stat: found a list, expected an object",
		`{"stat":{"small":1.5}}`:            "stat.small: found the number 1.5, expected a whole number of 32 bits",
		`{"stat":{"size":-1}}`:              "stat.size: found the number -1, expected a whole number of 16 bits, 0 or more",
		`{"stat":{"share":"x"}}`:            "stat.share: found a string, expected a number",
		`{"stat":{"on":"x"}}`:               "stat.on: found a string, expected true or false",
		`{"many":"x"}`:                      "many: found a string, expected an object",
		`{"small":1}`:                       `found the field "small", which does not belong here`,
		`{"path":"/a","stat":{"x":` + "1}}": `found the field "x", which does not belong here`,
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
