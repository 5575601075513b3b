package legacy

import (
	"iter"
	"strings"
)

// damaged yields payload with every token that a format treats specially written to
// each of its places: instead of nothing, of one byte, and of as many bytes as the
// token has. And it yields each beginning of payload.
func damaged(payload string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range len(payload) + 1 {
			for _, token := range damagingTokens {
				for _, cut := range []int{0, 1, len(token)} {
					if !yield(payload[:i] + token + payload[min(i+cut, len(payload)):]) {
						return
					}
				}
			}
			if !yield(payload[:i]) {
				return
			}
		}
	}
}

var damagingTokens = strings.Split("\x00|\t|\n|\r|\r\n|\f| |  |\x1f|\x7f|\u0080|\u00a0|é|\xe9|\xff|\ufeff|\ufffd|\ufffe|\uffff|\u2028|\U0010fffd|\U0010fffdd83d|\xed\xa0\xbd|"+
	`\|\\|\"|\'|\u|\u0|\u00e9|\u+123|\ud83d|\ude00|\uD83D\uDE00|\uDE00\uD83D|\x|\b|"|'|""|`+"`|"+
	`&|&amp;|&amp|&AMP;|&eacute;|&#|&#;|&#x;|&#x41|&#65;|&#x41;|&#X41;|&#0;|&#xd83d;|&#xde00;|&#xffff;|&#x10ffff;|&#x110000;|&#13;|&#00000065;|&#000000065;|&#4294967361;|&#a;|`+
	`<|>|/|</|/>|<!--x-->|<![CDATA[x]]>|]]>|<?x y?>|<?xml version="1.0"?>|<!DOCTYPE properties [<!ENTITY a "b">]>|<!DOCTYPE x>|<x/>|<x>|</x>|<comment/>|<entry key="k"/>|<null/>|<char code="#7"/>|<char code=""/>| id="x"| x="y"|:|`+
	`=|==|!|#|-|+|.|0|00|1|e|E|1e|1.|,|{|}|[|]|[]|{"a":1}|true|nul|$|${a}|a|Z|_|class|UTF-16|standalone`, "|")
