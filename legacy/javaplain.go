package legacy

import "mrtq/legacy/javaobj"

// plainJava reads a Properties of strings and Booleans.
func plainJava(stream string) (Payload, bool) {
	var room [usualEntries]javaobj.Plain
	entries, ok := javaobj.AppendPlain(room[:0], stream)
	if !ok {
		return nil, false
	}
	p := make(Payload, len(entries))
	for _, e := range entries {
		if e.Depth > 0 {
			if _, overridden := p[e.Key]; overridden {
				continue
			}
		}
		p[e.Key] = e.Value
	}
	return p, true
}
