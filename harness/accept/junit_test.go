package accept

import (
	"bytes"
	"context"
	"errors"
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

// TestJUnit: the XML says which scenario has failed, why, and how it is run alone.
func TestJUnit(t *testing.T) {
	var xml bytes.Buffer
	r, err := Run(t.Context(), Options{Address: address(t), JUnit: &xml, Dialects: []newqueue.Dialect{newqueue.Design}, Features: []godog.Feature{{Name: "ours.feature", Contents: []byte(junitFeature)}}})
	if err != nil || r.Failed != 1 {
		t.Fatalf("%v, %v", r.Problems, err)
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="mrtq accept">
  <testsuite name="mrtq accept" tests="2" failures="1" skipped="0">
    <testcase classname="design/ours.feature" name="A job in downloading can&#39;t get back"></testcase>
    <testcase classname="design/ours.feature" name="A job in held can&#39;t get back">
      <failure message="it was not refused: it succeeded">alone: mrtq accept --tags &#39;@J9&#39;</failure>
    </testcase>
  </testsuite>
</testsuites>
`
	if got := xml.String(); got != want {
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
	if ended := strings.Count(got, "<testcase") - 1; ended == 0 || ended > 3 || strings.Contains(got, "<failure") || !strings.Contains(got, `<error message="the server is gone"></error>`) {
		t.Errorf("%d ended\n%s", ended, got)
	}
}
