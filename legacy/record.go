package legacy

import (
	"crypto/sha256"
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

// Options says how to decode. The zero value is the default of the command.
type Options struct {
	Time TimeChoice // the unit to read times in
}

// Decode decodes a record. name is the last element of the znode's path, and data
// is the znode's data, which the Record doesn't share. Every error is an [*Error]
// and comes with the zero Record. If there are several faults, the order of the
// kinds says which one is reported.
func Decode(name string, data []byte, opt Options) (Record, error) {
	key, err := ParseKey(name)
	if err != nil {
		return Record{}, err
	}
	if len(data) < headerWidth {
		return Record{}, &Error{Kind: TruncatedHeader, Offset: len(data),
			Msg: fmt.Sprintf("the data ends after %d bytes: expected a header of %d (a status byte and an 8-byte time)", len(data), headerWidth)}
	}
	status := Status(data[0])
	if !status.Valid() {
		return Record{}, &Error{Kind: UnknownStatus, Offset: 0,
			Msg: fmt.Sprintf("status byte is %d: expected 0 (%s) to %d (%s)", data[0], Pending, Held, Held)}
	}
	payload := data[headerWidth:]
	if len(payload) == 0 {
		return Record{}, &Error{Kind: EmptyPayload, Offset: headerWidth, Msg: "nothing follows the header: expected a payload"}
	}
	raw, t, unit, timeErr := readTime(data[1:headerWidth], 1, opt.Time)
	if timeErr != nil {
		return Record{}, timeErr
	}
	format, values, payloadErr := decodePayload(payload)
	if payloadErr != nil {
		if payloadErr.Offset >= 0 { // it counts from the payload on
			payloadErr.Offset += headerWidth
		}
		return Record{}, payloadErr
	}
	return Record{
		Key:     key,
		Header:  Header{Status: status, Raw: raw, Time: t, Unit: unit},
		Format:  format,
		Payload: values,
		SHA256:  sha256.Sum256(data),
	}, nil
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
			Msg: fmt.Sprintf("the data ends after %d bytes: expected a time of %d", len(data), timeWidth)}
	}
	raw, t, unit, err := readTime(data[:timeWidth], 0, opt.Time)
	if err != nil {
		return Lock{}, err
	}
	return Lock{Raw: raw, Time: t, Unit: unit, Data: append([]byte(nil), data[timeWidth:]...)}, nil
}
