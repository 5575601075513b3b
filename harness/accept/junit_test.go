package accept

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/cucumber/godog"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

const junitFeature = `Feature: Ours

  @J9
  Scenario Outline: A job in <state> can't get back
    Given a <state> job
    When an administrator tries to move the job to pending
    Then it is refused: from <state> the job can move to <allowed>
    And nothing has changed

    Examples:
      | state       | allowed           |
      | downloading | processing failed |
      | held        | pending           |
`

var seconds = regexp.MustCompile(` time="[^"]*"`)

// TestJUnit: the XML says where a scenario is that failed, and how it is run alone.
func TestJUnit(t *testing.T) {
	var xml bytes.Buffer
	r, err := Run(t.Context(), Options{Address: address(t), JUnit: &xml, Dialects: []newqueue.Dialect{newqueue.Design}, Features: []godog.Feature{{Name: "ours.feature", Contents: []byte(junitFeature)}}})
	if err != nil || r.Failed != 1 {
		t.Fatalf("%v, %v", r.Problems, err)
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="mrtq accept" tests="2" skipped="0" failures="1" errors="0">
  <testsuite name="Ours, dialect design" tests="2" skipped="0" failures="1" errors="0">
    <testcase name="A job in downloading can&apos;t get back" status="passed" classname="Ours, dialect design"/>
    <testcase name="A job in held can&apos;t get back" status="failed" classname="Ours, dialect design">
      <failure message="Step it is refused: from held the job can move to pending: it was not refused: it succeeded">ours.feature:4
alone: mrtq accept --tags &apos;@J9&apos;</failure>
    </testcase>
  </testsuite>
</testsuites>
`
	if got := seconds.ReplaceAllString(xml.String(), ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestJUnitOfAnInterruptedRun: the XML has what has ended, and why the rest has not.
func TestJUnitOfAnInterruptedRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var xml bytes.Buffer
	n := 0
	_, err := Run(ctx, Options{Address: address(t), JUnit: &xml, Tags: "@J2", Dialects: []newqueue.Dialect{newqueue.Design}, conn: func(c client.Conn) client.Conn {
		if n++; n == 3 {
			cancel(errors.New("the server is gone"))
		}
		return c
	}})
	if err == nil {
		t.Fatal("the run has not ended")
	}
	got := xml.String()
	if ended := strings.Count(got, `status="passed"`); ended == 0 || ended > 3 || strings.Contains(got, "<failure") || !strings.Contains(got, `<error message="the server is gone"/>`) {
		t.Errorf("%d ended\n%s", ended, got)
	}
}
