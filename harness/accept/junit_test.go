package accept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

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

  Scenario Outline: same name
    Given a <state> job

    Examples:
      | state |
      | held  |

  Scenario: same name #1
    Given a held job

  Scenario: same name
    Given nothing that there is

  Scenario:
    Given a held job
`

// TestJUnit: the XML says which scenario has failed, why, and how it is run alone. Each has a name of its own.
func TestJUnit(t *testing.T) {
	var xml bytes.Buffer
	opt := Options{Address: address(t), JUnit: &xml, Dialects: []newqueue.Dialect{newqueue.Design}, Features: []Feature{{"ours.feature", []byte(junitFeature)}}}
	opt.Alone = func(d newqueue.Dialect, at string) string { return fmt.Sprintf("accept %s in %s", at, d) }
	r, err := Run(t.Context(), opt)
	if err != nil || r.Failed != 2 {
		t.Fatalf("%v, %v", r.Problems, err)
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="mrtq accept">
  <testsuite name="mrtq accept" tests="6" failures="1" errors="1" skipped="0">
    <testcase classname="design/ours.feature" name="A job in downloading can&#39;t get back"></testcase>
    <testcase classname="design/ours.feature" name="A job in held can&#39;t get back">
      <failure message="ours.feature:7: it was not refused: it succeeded">alone: accept ours.feature:13 in design</failure>
    </testcase>
    <testcase classname="design/ours.feature" name="same name #2"></testcase>
    <testcase classname="design/ours.feature" name="same name #1"></testcase>
    <testcase classname="design/ours.feature" name="same name #3">
      <error message="ours.feature:26: step is undefined: nothing that there is"></error>
    </testcase>
    <testcase classname="design/ours.feature" name="#1"></testcase>
  </testsuite>
</testsuites>
`
	if got := xml.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for only, ran := range map[string]string{"ours.feature:13": "1, 1", "ours.feature:4": "2, 1", "ours.feature:22": "1, 0"} {
		opt.Only, opt.Address = only, address(t)
		if r, err = Run(t.Context(), opt); err != nil || fmt.Sprintf("%d, %d", r.Scenarios, r.Failed) != ran {
			t.Errorf("%s: %+v, %v, want %s", only, r, err, ran)
		}
	}
	opt.Only = "ours.feature:5"
	if _, err = Run(t.Context(), opt); err == nil || err.Error() != `"ours.feature:5": expected FILE:LINE, with the line of a scenario or of a row of its examples, and a file that runs` {
		t.Error(err)
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
