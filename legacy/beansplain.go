package legacy

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// plainBeans reads the one program that puts strings, booleans and integers
// into a Properties, as java.beans.XMLEncoder writes it. It gives up at any
// other element, and at an object with an id.
func plainBeans(text string) (Payload, bool) {
	s := scanner{text: text}
	if !s.xmlDeclaration() || !s.take(`<java version="`) || !s.javaVersion() || !s.take(`" class="java.beans.XMLDecoder">`) || !utf8.ValidString(text) {
		return nil, false
	}
	s.blank()
	if !s.take(`<object class="` + propertiesClass + `">`) {
		return nil, false
	}
	var room [usualEntries]entry
	entries := room[:0]
	for s.blank(); !s.take("</object>"); s.blank() {
		e, ok := s.beansPut()
		if !ok {
			return nil, false
		}
		entries = append(entries, e)
	}
	s.blank()
	if !s.take("</java>") {
		return nil, false
	}
	s.blank()
	return newPayload(entries), s.atEnd()
}

// javaVersion skips a version such as 1.8.0_402 or 17.0.15.
func (s *scanner) javaVersion() bool {
	begin := s.pos
	for !s.atEnd() && ('0' <= s.text[s.pos] && s.text[s.pos] <= '9' || s.text[s.pos] == '.' || s.text[s.pos] == '_') {
		s.pos++
	}
	return s.pos > begin
}

func (s *scanner) beansPut() (entry, bool) {
	if !s.take(`<void method="` + putMethod + `">`) {
		return entry{}, false
	}
	s.blank()
	if !s.take("<string>") {
		return entry{}, false
	}
	key, ok := s.beansString()
	if !ok {
		return entry{}, false
	}
	s.blank()
	value, ok := s.beansValue()
	if !ok {
		return entry{}, false
	}
	s.blank()
	return entry{key, value}, s.take("</void>")
}

func (s *scanner) beansValue() (v any, ok bool) {
	switch {
	case s.take("<string>"):
		return s.beansString()
	case s.take("<boolean>true</boolean>"):
		return true, true
	case s.take("<boolean>false</boolean>"):
		return false, true
	case s.take("<int>"):
		digits, ok := s.xmlText('<')
		return json.Number(digits), ok && isJavaInteger(digits, 32) && s.take("</int>")
	case s.take("<long>"):
		digits, ok := s.xmlText('<')
		return json.Number(digits), ok && isJavaInteger(digits, 64) && s.take("</long>")
	}
	return nil, false
}

// beansString reads a string after its tag: text, and characters that XML can't
// hold.
func (s *scanner) beansString() (string, bool) {
	text, ok := s.xmlText('<')
	if !ok || s.take("</string>") {
		return text, ok
	}
	var out strings.Builder
	for out.WriteString(text); !s.take("</string>"); out.WriteString(text) {
		char, ok := s.beansChar()
		if !ok {
			return "", false
		}
		out.WriteString(char)
		if text, ok = s.xmlText('<'); !ok {
			return "", false
		}
	}
	return joinSurrogates(out.String()), true
}

func (s *scanner) beansChar() (string, bool) {
	if !s.take(`<char code="`) {
		return "", false
	}
	code, ok := s.xmlText('"')
	if !ok || !s.take(`"/>`) {
		return "", false
	}
	return fromCharCode(code)
}
