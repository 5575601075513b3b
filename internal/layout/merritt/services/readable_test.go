package services

import "testing"

func TestHasUnpaired(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":"b"}`: false, `{"a":"\ud83d\ude00"}`: false, `{"a":"\uD83D\uDE00\ud83d\ude00 \u00e9"}`: false, `{"a":"\\ud83d"}`: false, `{"a":"\\\ud83d\ude00"}`: false,
		`{"a":"\ud83d"}`: true, `{"a":"\ude00"}`: true, `{"a":"\ude00\ud83d"}`: true, `{"a":"\ud83d \ude00"}`: true, `{"a":"\ud83d\ud83d\ude00"}`: true, `{"a":"\ud83d\u0041"}`: true,
		`{"a":"\\\ud83d"}`: true, `{"\ud83d":1}`: true, `{"a":"\ud83d\n"}`: true, `{"a":"\ud83d","b":"\ude00"}`: true,
		"{\"a\":\"\xed\xa0\xbd\"}": true, "{\"a\":\"\ud7ff\U0001f600\"}": false, "\xed": false,
	} {
		if got := hasUnpaired([]byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
