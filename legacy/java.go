package legacy

import (
	"encoding/json"
	"errors"
	"strconv"

	"mrtq/legacy/javaobj"
)

func decodeJava(data []byte) (Payload, *Error) {
	object, err := javaobj.Decode(data)
	if err != nil {
		var stream *javaobj.Error
		if !errors.As(err, &stream) {
			return nil, &Error{Kind: BadPayload, Offset: noOffset, Err: err}
		}
		e := badPayload(stream.Offset, "object stream: %s", stream.Msg)
		if stream.Class != "" {
			e.Kind, e.Class = UnsupportedClass, stream.Class
		}
		e.Err = stream.Err
		return nil, e
	}
	p := make(Payload, len(object.Entries))
	for o := object; o != nil; o = o.Defaults {
		for _, entry := range o.Entries {
			// Outermost first: a default counts only if nothing overrides it.
			if _, overridden := p[entry.Key]; !overridden {
				p[entry.Key] = fromJava(entry.Value)
			}
		}
	}
	return p, nil
}

func fromJava(v any) any {
	switch v := v.(type) {
	case int32:
		return json.Number(strconv.FormatInt(int64(v), 10))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	}
	return v // a string or bool
}
