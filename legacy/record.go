package legacy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
)

// Record is one decoded znode.
type Record struct {
	Key     Key
	Header  Header
	Format  Format
	Payload Payload
	SHA256  [sha256.Size]byte // of the znode's whole data, header included
}

// Options steer decoding. The zero value is what the command uses.
type Options struct {
	Time TimePolicy
}

// Decode decodes the znode of that name, the last element of its path. Decode
// doesn't keep data. Every error is an [*Error] and comes with the zero Record.
// [Kind] says which of several faults is reported.
func Decode(name string, data []byte, opt Options) (Record, error) {
	key, err := ParseKey(name)
	if err != nil {
		return Record{}, err
	}
	if len(data) < headerWidth {
		return Record{}, &Error{Kind: TruncatedHeader, Offset: len(data),
			Msg: fmt.Sprintf("the data ends after %d bytes: want a header of %d (a status byte and an 8-byte time)", len(data), headerWidth)}
	}
	status := Status(data[0])
	if !status.Valid() {
		return Record{}, &Error{Kind: UnknownStatus, Offset: 0,
			Msg: fmt.Sprintf("status byte is %d: want 0 (%s) to %d (%s)", data[0], Pending, Held, Held)}
	}
	payload := data[headerWidth:]
	if len(payload) == 0 {
		return Record{}, &Error{Kind: EmptyPayload, Offset: headerWidth, Msg: "nothing follows the header: want a payload"}
	}
	raw, t, unit, timeErr := readTime(data[1:headerWidth], 1, opt.Time)
	if timeErr != nil {
		return Record{}, timeErr
	}
	format, values, err := DecodePayload(payload)
	if err != nil {
		return Record{}, atHeader(err)
	}
	return Record{
		Key:     key,
		Header:  Header{Status: status, Raw: raw, Time: t, Unit: unit},
		Format:  format,
		Payload: values,
		SHA256:  sha256.Sum256(data),
	}, nil
}

// atHeader moves an offset in the payload to where it is in the data.
func atHeader(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return &Error{Kind: BadPayload, Offset: noOffset, Err: err}
	}
	if e.Offset >= 0 {
		e.Offset += headerWidth
	}
	return e
}

// Lock is an outstanding legacy object lock, a child of /mrt.lock.
type Lock struct {
	Raw  int64     // the time's eight bytes, in Unit
	Time time.Time // UTC; zero when there is none
	Unit TimeUnit
	Data []byte // what follows the time, a copy; the services put a job id here
}

// DecodeLock decodes a lock's data, which has no status byte. Every error is an
// [*Error] and comes with the zero Lock.
func DecodeLock(data []byte, opt Options) (Lock, error) {
	if len(data) < timeWidth {
		return Lock{}, &Error{Kind: TruncatedHeader, Offset: len(data),
			Msg: fmt.Sprintf("the data ends after %d bytes: want a time of %d", len(data), timeWidth)}
	}
	raw, t, unit, err := readTime(data[:timeWidth], 0, opt.Time)
	if err != nil {
		return Lock{}, err
	}
	return Lock{Raw: raw, Time: t, Unit: unit, Data: append([]byte(nil), data[timeWidth:]...)}, nil
}
