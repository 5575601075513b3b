package legacy

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"
)

func TestHeaderTime(t *testing.T) {
	const ms = 1709164800123
	tests := []struct {
		raw    int64
		choice TimeChoice
		unit   TimeUnit
		want   string
	}{
		{0, TimeAuto, NoTime, ""}, {0, TimeSeconds, NoTime, ""}, {0, TimeMillis, NoTime, ""},
		{ms, TimeAuto, Milliseconds, "2024-02-29T00:00:00.123Z"},
		{ms / 1000, TimeAuto, Seconds, "2024-02-29T00:00:00Z"},
		{ms / 1000, TimeMillis, Milliseconds, "1970-01-20T18:46:04.8Z"},
		{1, TimeAuto, Seconds, "1970-01-01T00:00:01Z"}, {1, TimeMillis, Milliseconds, "1970-01-01T00:00:00.001Z"},
		{99_999_999_999, TimeAuto, Seconds, "5138-11-16T09:46:39Z"},
		{100_000_000_000, TimeAuto, Milliseconds, "1973-03-03T09:46:40Z"},
		{100_000_000_000, TimeSeconds, Seconds, "5138-11-16T09:46:40Z"},
		{253402300799999, TimeAuto, Milliseconds, "9999-12-31T23:59:59.999Z"},
		{253402300799, TimeSeconds, Seconds, "9999-12-31T23:59:59Z"},
	}
	for _, test := range tests {
		data := append(AppendHeader(nil, Header{Status: Held, Raw: test.raw}), "{}"...)
		r, err := Decode("mrtQ-000000025100", data, Options{Time: test.choice})
		if err != nil {
			t.Errorf("%d %s: %v", test.raw, test.choice, err)
			continue
		}
		got := ""
		if h := r.Header; !h.Time.IsZero() {
			got = h.Time.Format(time.RFC3339Nano)
		}
		if got != test.want || r.Header.Unit != test.unit || r.Header.Raw != test.raw {
			t.Errorf("%d %s: got %s %+v, want %s %s", test.raw, test.choice, got, r.Header, test.want, test.unit)
		}
		if h := NewHeader(Held, r.Header.Time, r.Header.Unit); h != r.Header {
			t.Errorf("%d %s: NewHeader returned %+v, want %+v", test.raw, test.choice, h, r.Header)
		}
	}
}

func TestHeaderTimeRefused(t *testing.T) {
	const tail = " is outside the years 1970 to 9999: expected milliseconds or seconds since 1970, or 0 for none"
	tests := []struct {
		raw    int64
		choice TimeChoice
		want   string
	}{
		{-1, TimeAuto, "bad-payload at byte 1: time -1 read as seconds" + tail},
		{math.MinInt64, TimeAuto, "bad-payload at byte 1: time -9223372036854775808 read as seconds" + tail},
		{math.MinInt64, TimeMillis, "bad-payload at byte 1: time -9223372036854775808 read as milliseconds" + tail},
		{math.MaxInt64, TimeAuto, "bad-payload at byte 1: time 9223372036854775807 read as milliseconds" + tail},
		{math.MaxInt64, TimeSeconds, "bad-payload at byte 1: time 9223372036854775807 read as seconds" + tail},
		{253402300800000, TimeAuto, "bad-payload at byte 1: time 253402300800000 read as milliseconds" + tail},
		{253402300800, TimeSeconds, "bad-payload at byte 1: time 253402300800 read as seconds" + tail},
		{1709164800123, TimeSeconds, "bad-payload at byte 1: time 1709164800123 read as seconds" + tail},
	}
	for _, test := range tests {
		data := append(AppendHeader(nil, Header{Raw: test.raw}), "{}"...)
		_, err := Decode("mrtQ-000000025100", data, Options{Time: test.choice})
		if err == nil || err.Error() != test.want {
			t.Errorf("%d %s:\n got %v\nwant %s", test.raw, test.choice, err, test.want)
		}
	}
}

func TestParseTimeChoice(t *testing.T) {
	for _, p := range []TimeChoice{TimeAuto, TimeSeconds, TimeMillis} {
		if got, err := ParseTimeChoice(p.String()); err != nil || got != p {
			t.Errorf("%s: got %v, %v", p, got, err)
		}
	}
	if _, err := ParseTimeChoice("ns"); err == nil || err.Error() != `time unit "ns" is unknown: expected auto, s or ms` {
		t.Errorf("got %v", err)
	}
}

func TestDecodeLock(t *testing.T) {
	data := corpus(t)["/mrt.lock/ark-99999-fk4abc123"]
	l, err := DecodeLock(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if l.Time.Format(time.RFC3339Nano) != "2024-02-29T00:00:00.123Z" || l.Unit != Milliseconds || l.Raw != 1709164800123 || string(l.Data) != "jid-0002" {
		t.Errorf("got %+v", l)
	}
	if l, err = DecodeLock(make([]byte, 8), Options{}); err != nil || !l.Time.IsZero() || l.Unit != NoTime || len(l.Data) != 0 {
		t.Errorf("no time: got %+v, %v", l, err)
	}
	for n := range timeWidth {
		if _, err := DecodeLock(data[:n], Options{}); !errors.Is(err, TruncatedHeader) {
			t.Errorf("%d bytes: got %v", n, err)
		}
	}
	_, err = DecodeLock(binary.BigEndian.AppendUint64(nil, math.MaxUint64), Options{})
	if e := new(Error); !errors.As(err, &e) || e.Kind != BadPayload || e.Offset != 0 {
		t.Errorf("time -1: got %v", err)
	}
}
