package legacy_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"mrtq/legacy"
)

// Read a record, here one in JSON. The reader does not need to know which
// service wrote it.
func Example() {
	header := legacy.NewHeader(legacy.Held, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), legacy.Milliseconds)
	data := append(legacy.AppendHeader(nil, header), `{"jobID":"jid-0001","update":true}`...)
	record, err := legacy.Decode("mrtQ-05000000000042", data, legacy.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Header.Status, "since", record.Header.Time.Format(time.DateOnly))
	fmt.Println(record.Format, record.Payload["jobID"], record.Payload["update"])
	fmt.Println("priority", record.Key.Priority, "number", record.Key.Sequence)

	// A record that can't be decoded says why, and where.
	_, err = legacy.Decode("mrtQ-05000000000043", data[:20], legacy.Options{})
	var bad *legacy.Error
	if errors.As(err, &bad) {
		fmt.Println(bad.Kind, "at byte", bad.Offset)
	}
	// Output:
	// held since 2024-02-29
	// json jid-0001 true
	// priority 5 number 42
	// bad-payload at byte 20
}
