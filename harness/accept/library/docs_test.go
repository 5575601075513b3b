package library_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"mrtq/harness"
	"mrtq/harness/accept/goqueue"
	"mrtq/harness/accept/library"
	"mrtq/internal/goldenfile"
	"mrtq/internal/zkconn"
)

var update = flag.Bool("update", false, "write the generated parts of docs/drivers.md")

const page = "../../../docs/drivers.md"

// TestVerbsPage: the page for authors of drivers lists the verbs and the kinds of refusals that mrtq knows.
func TestVerbsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n| verb | what | fields | | answer |\n|---|---|---|---|---|\n")
	for _, v := range library.Verbs {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", v.Name, v.What, v.Asks, v.Does, v.Tells)
	}
	goldenfile.Section(t, page, "<!-- verbs -->", "<!-- end of the verbs -->", b.String()+"\n", *update)
	b.Reset()
	b.WriteString("\n| kind | means |\n|---|---|\n")
	for _, k := range library.RefusalKinds {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.Kind, k.Means)
	}
	goldenfile.Section(t, page, "<!-- kinds -->", "<!-- end of the kinds -->", b.String()+"\n", *update)
}

const transcript = `{"n":1,"verb":"hello","protocol":1,"servers":"127.0.0.1:2181"}
{"n":2,"verb":"open","session":"s1","root":"/q","dialect":"design"}
{"n":3,"verb":"init","what":"queue","session":"s1","now":"2024-03-01T12:00:00-08:00"}
{"n":4,"verb":"create","what":"batch","session":"s1","docs":{"submission":{"profile_name":"merritt_demo_content","submitter":"Dee Positor","payload_filename":"three.checkm","submissionDate":"2024-02-20T12:00:00-08:00","erc_what":"","erc_who":"","erc_when":"","erc_where":"","type":"object-manifest","submission_mode":"add","batchID":"uuid-1"}},"now":"2024-03-01T12:00:00-08:00"}
{"n":5,"verb":"acquire","what":"batch","session":"s1","from":"pending","now":"2024-03-01T12:00:00-08:00"}
{"n":6,"verb":"process","what":"batch","session":"s1","item":"/batches/bid0000000000","jobs":[{"priority":5,"space_needed":0,"configuration":{"batch_id":"","profile_name":"merritt_demo_content","submitter":"Dee Positor","submissionDate":"2024-02-20T12:00:00-08:00","payload_url":"http://example.org/1","payload_type":"Manifest","response_type":"JSON","local_id":"","submission_mode":"Add"},"identifiers":{"primary_id":"","local_id":[]}}],"now":"2024-03-01T12:00:00-08:00"}
{"n":7,"verb":"acquire","what":"job","session":"s1","from":"pending","now":"2024-03-01T12:00:00-08:00"}
{"n":8,"verb":"fail","what":"job","session":"s1","item":"/jobs/jid0000000001","message":"404 Not Found","now":"2024-03-01T12:00:00-08:00"}
{"n":9,"verb":"move","what":"job","session":"s1","item":"/jobs/jid0000000001","to":"completed","now":"2024-03-01T12:00:00-08:00"}
{"n":10,"verb":"close","session":"s1"}
`

var zkSession = regexp.MustCompile(`0x[0-9a-f]+`)

// TestTranscript: the transcript on the page is what mrtq's own driver answers.
func TestTranscript(t *testing.T) {
	server := harness.ForTest(t, harness.Embedded, harness.Options{})
	var out bytes.Buffer
	err := library.Serve(t.Context(), strings.NewReader(transcript), &out, opener(t, server.Address()))
	if err != nil {
		t.Fatal(err)
	}
	answers := map[int]string{}
	for line := range strings.Lines(out.String()) {
		var r struct{ N int }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		answers[r.N] = zkSession.ReplaceAllString(line, "0x1a20c2d32c10001")
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(transcript) {
		n++
		fmt.Fprintf(&b, "→ %s← %s", line, answers[n])
	}
	goldenfile.Section(t, page, "<!-- transcript -->", "<!-- end of the transcript -->", "```\n"+b.String()+"```\n", *update)
}

// opener opens mrtq's own implementation on a server, whatever address it is told.
func opener(t *testing.T, address string) func(context.Context, string, []string) (library.Library, error) {
	return func(context.Context, string, []string) (library.Library, error) {
		at, err := zkconn.ParseAddress(address)
		if err != nil {
			return nil, err
		}
		return goqueue.New(goqueue.Options{Session: zkconn.Config{Address: at}}), nil
	}
}
