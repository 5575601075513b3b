package legacy

import (
	"errors"

	"mrtq/legacy/javaobj"
)

func decodeJava(data []byte) (Payload, *Error) {
	p, err := javaobj.Decode(data)
	if stream := (*javaobj.Error)(nil); errors.As(err, &stream) {
		e := badPayload(stream.Offset, "object stream: %s", stream.Msg)
		if stream.Class != "" {
			e.Kind, e.Class = UnsupportedClass, stream.Class
		}
		e.Err = stream.Err
		return nil, e
	}
	return p, nil
}
