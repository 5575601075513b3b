package legacy

import "unicode/utf8"

// plainPropertiesXML reads what Properties.storeToXML writes, including its
// document type. It never reads the DTD that this names.
func plainPropertiesXML(text string) (Payload, bool) {
	s := scanner{text: text}
	if !s.xmlDeclaration() {
		return nil, false
	}
	s.take(`<!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd">`)
	s.blank()
	if !s.take("<properties>") && !s.take(`<properties version="1.0">`) || !utf8.ValidString(text) {
		return nil, false
	}
	var room [usualEntries]entry
	entries := room[:0]
	for s.blank(); !s.take("</properties>"); s.blank() {
		if s.take("<comment>") {
			if _, ok := s.xmlText('<'); !ok || !s.take("</comment>") {
				return nil, false
			}
			continue
		}
		e, ok := s.xmlEntry()
		if !ok {
			return nil, false
		}
		entries = append(entries, e)
	}
	s.blank()
	return newPayload(entries), s.atEnd()
}

func (s *scanner) xmlEntry() (entry, bool) {
	if !s.take(`<entry key="`) {
		return entry{}, false
	}
	key, ok := s.xmlText('"')
	if !ok {
		return entry{}, false
	}
	if s.take(`"/>`) {
		return entry{key, ""}, true
	}
	if !s.take(`">`) {
		return entry{}, false
	}
	value, ok := s.xmlText('<')
	return entry{key, value}, ok && s.take("</entry>")
}
