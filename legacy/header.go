package legacy

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

const (
	timeWidth   = 8
	headerWidth = 1 + timeWidth

	// secondsBelow separates the two units. As milliseconds it is in March
	// 1973, before there was a queue. As seconds it is in the year 5138.
	secondsBelow = 100_000_000_000
)

// TimeUnit is the unit that a record's time was read in.
type TimeUnit string

// The units.
const (
	NoTime       TimeUnit = "" // the time is zero, which means none
	Seconds      TimeUnit = "s"
	Milliseconds TimeUnit = "ms"
)

// TimeChoice says which unit to read a time in.
type TimeChoice byte

// The choices. The zero value decides by magnitude.
const (
	TimeAuto    TimeChoice = iota // below 100 000 000 000 is seconds, else milliseconds
	TimeSeconds                   // what the design page Queue Data says
	TimeMillis                    // what the services wrote
)

var timeChoices = [...]string{TimeAuto: "auto", TimeSeconds: "s", TimeMillis: "ms"}

// ParseTimeChoice returns the choice with that name: auto, s or ms. The error
// lists the names.
func ParseTimeChoice(name string) (TimeChoice, error) {
	if i := slices.Index(timeChoices[:], name); i >= 0 {
		return TimeChoice(i), nil
	}
	return 0, fmt.Errorf("time unit %q is unknown: expected auto, s or ms", name)
}

// String returns the name that [ParseTimeChoice] reads.
func (p TimeChoice) String() string { return timeChoices[p] }

// Header is the first nine bytes of a record.
type Header struct {
	Status Status
	Raw    int64     // the time's eight bytes, in Unit
	Time   time.Time // UTC; zero when there is none
	Unit   TimeUnit
}

// NewHeader returns the header that a service writes at t, which is cut to
// the unit. A zero t, or [NoTime], gives a header without a time.
func NewHeader(s Status, t time.Time, unit TimeUnit) Header {
	h := Header{Status: s}
	if t.IsZero() {
		return h
	}
	switch unit {
	case Seconds:
		h.Raw = t.Unix()
	case Milliseconds:
		h.Raw = t.UnixMilli()
	}
	if h.Raw != 0 {
		h.Unit, h.Time = unit, atUnit(h.Raw, unit)
	}
	return h
}

// AppendHeader appends the nine bytes of h. It uses only Status and Raw.
func AppendHeader(dst []byte, h Header) []byte {
	return binary.BigEndian.AppendUint64(append(dst, byte(h.Status)), uint64(h.Raw))
}

// lastSecond ends the year 9999. A negative time is no status change of a
// queue, and later years can't be printed as RFC 3339. Both mean that the
// header is damaged.
var lastSecond = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()

func readTime(b []byte, offset int, choice TimeChoice) (raw int64, t time.Time, unit TimeUnit, err *Error) {
	raw = int64(binary.BigEndian.Uint64(b))
	if raw == 0 {
		return 0, time.Time{}, NoTime, nil
	}
	unit = Milliseconds
	if choice == TimeSeconds || choice == TimeAuto && raw < secondsBelow {
		unit = Seconds
	}
	last := lastSecond
	if unit == Milliseconds {
		last = last*1000 + 999
	}
	if raw < 0 || raw > last {
		return 0, time.Time{}, NoTime, badPayload(offset,
			"time %d read as %s is outside the years 1970 to 9999: expected milliseconds or seconds since 1970, or 0 for none", raw, unit.words())
	}
	return raw, atUnit(raw, unit), unit, nil
}

func atUnit(raw int64, unit TimeUnit) time.Time {
	if unit == Seconds {
		return time.Unix(raw, 0).UTC()
	}
	return time.UnixMilli(raw).UTC()
}

func (u TimeUnit) words() string {
	if u == Seconds {
		return "seconds"
	}
	return "milliseconds"
}
