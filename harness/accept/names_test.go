package accept

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/newqueue"
)

// TestNames: a typing error in a scenario makes it fail, and the message says what there is, also in a step that would have
// passed with it. It has one step for each check: TestStepsNameWhatTheyTake says that each step has its checks.
func TestNames(t *testing.T) {
	const jobStates = "expected one of pending, held, estimating, provisioning, downloading, processing, recording, notify, failed, completed, deleted"
	cases := []struct{ steps, want string }{
		{"Given a hled job", "hled is not a state of a job: " + jobStates},
		{"Given a notify batch", "notify is not a state of a batch: expected one of pending, held, processing, reporting, update-reporting, completed, failed, deleted"},
		{"Given a held job\nAnd a failed job", "the scenario already has the job, /jobs/jid0000000000"},
		{"Given a failed job whose last successful status is downlaoding", "downlaoding is not a state of a job: " + jobStates},
		{"Given a hled job of a completed batch", "hled is not a state of a job: " + jobStates},
		{"Given a batch in procesing", "procesing is not a state of a batch: expected one of pending, held, processing, reporting, update-reporting, completed, failed, deleted"},
		{"Given a batch in processing with the completed jobs AB", "AB is not the name of a job: expected a capital letter"},
		{"Given a batch in processing with the completed jobs A A", "the job A is listed twice"},
		{"Given a job A in it that is held", "the scenario has no batch, and nothing else"},
		{"Given a batch in processing\nAnd a job A in it that is held\nAnd a job A in it that is held", "the scenario already has the job A, /jobs/jid0000000000"},
		{"Given these jobs in held\n| jib |\n| A |", "jib is not a column of this table: expected one of job, priority, bytes"},
		{"Given these jobs in held\n| job | job |\n| A | B |", "the table has two columns job"},
		{"Given these jobs in held\n| job |", "the table has no row below its columns"},
		{"Given these jobs in held\n| job |\n| a |", "a is not the name of a job: expected a capital letter"},
		{"Given these jobs in held\n| job | priority |\n| A | high |", `row 1 of the table: priority is "high", expected a number`},
		{"Given these jobs in held", "func expected more arguments than given: expected 3 arguments, matched 2 from step"},
		{"Given these paused requests for small objects\n| request |\n| A |", "paused is not a state of a request: expected one of pending, processing, completed, failed, deleted"},
		{"Given a held job\n| job |\n| A |", "before step hook failed: this step takes no table and no text below it"},
		{"Given a held job\nAnd the job A is also in the queue of pending, with priority 1", "the scenario has no job A: it has the batch, the job"},
		{"Given another client has locked the batch", "the scenario has no batch, and nothing else"},
		{"Given a held job\nAnd its last report listed A as completed and none as failed (mrt-zk: nothing says so)", "the scenario has no job A: it has the batch, the job"},
		{"When the worker creates no job in it", "the scenario has no worker yet: it has "},
		{"Given a batch in processing\nWhen a batch worker adds one job to it\n| paylaod |\n| http://x |", "paylaod is not a column of this table: expected one of payload, local id, primary id, title, priority, bytes"},
		{"When the worker acquires the next job in hled", "hled is not a state of a job: " + jobStates},
		{"When the worker acquires the next request for a smal object", "smal is not a size: expected one of small, large"},
		{"Given a pending job that a worker has acquired\nWhen the other worker succeeds", "the scenario has no other worker yet: it has worker"},
		{"Given a pending job that a worker has acquired\nWhen the worker tries to move it to hled", "hled is not a state of a job: " + jobStates},
		{"Given a pending job that a worker has acquired\nWhen another worker's session ends", "the scenario has no other worker yet: it has worker"},
		{"When all of them succeed at the same moment, while three watchers wait", "the scenario has no worker of A yet: it has watcher A"},
		{"Given a failed job\nWhen an administrator resumes the job at downlaoding", "downlaoding is not a state of a job: " + jobStates},
		{"When an administrator takes the queue hodl ingest", "step is undefined: an administrator takes the queue hodl ingest"},
		{"Given a held job\nThen nothing has changed", "nothing was done before: expected a When"},
		{"Given a pending batch\nWhen an administrator holds the batch\nThen the batch is held, with priority 7", "a batch has no priority"},
		{"Given a pending job\nWhen an administrator holds the job\nThen its last successful status is pendign (mrt-zk: pending)", "pendign is not a state of a job: expected one of pending, held, estimating, provisioning, downloading, processing, recording, notify, failed, completed, deleted, storing"},
		{"Given a pending job\nWhen an administrator holds the job\nThen its last successful status is none (mrt-zk: pendign)", "pendign is not a state of a job: expected one of pending, held, estimating, provisioning, downloading, processing, storing, recording, notify, failed, completed, deleted"},
		{"Given a pending job\nWhen an administrator holds the job\nThen in its batch it moves from procesing to failed", "procesing is not a folder of a batch's states: expected one of processing, failed, completed, deleted"},
		{"Given a held job\nWhen an administrator releases the job\nThen the job has left the queue of failed", "/jobs/states/failed/05-jid0000000000 was not there before"},
		{"Given a pending job\nWhen an administrator holds the job\nThen each of these is a pending job, with an entry in its batch and in the queue", "the scenario has no table of jobs that a worker creates"},
		{"Given a pending job\nWhen an administrator holds the job\nThen it is found by its UUID", "the scenario has no submission"},
		{"Given a pending job\nWhen an administrator holds the job\nThen nothing is left of the jobs A B", "the scenario has no job A: it has the batch, the job"},
		{"Given a pending job\nWhen an administrator holds the job\nThen /locks/quee/ingest is removed", "/locks/quee/ingest: /locks/quee is not a folder of locks: expected one of /locks/queue, /locks/storage, /locks/inventory, /locks/collections, /locks/queue/localid"},
		{"Given a pending job\nWhen an administrator holds the job\nThen /locks/queue/ingst is removed", "/locks/queue/ingst was not there before"},
		{"Given a pending job\nWhen an administrator holds the job\nThen there is a folder for jobs in each of pending hled", "hled is not a state of a job: " + jobStates},
		{"Given a pending job\nWhen an administrator holds the job\nThen the watch has not fired", "no watcher waited before"},
		{"Given a pending job\nWhen an administrator releases the job\nThen it is refused because it is in an other state", "it is in an other state is not a reason: expected one of "},
		{"Given a pending job\nWhen an administrator releases the job\nThen it is refused: from pending the job can move to nothing", "nothing is not a state of a job: " + jobStates},
		{"Given a pending job\nWhen an administrator tries to move the job to notify\nThen it is refused: from pending the batch can move to held", "what should move is a job, expected a batch"},
	}
	var text strings.Builder
	text.WriteString("Feature: Typing errors\n")
	for i, c := range cases {
		fmt.Fprintf(&text, "  Scenario: number %d\n    %s\n", i, strings.ReplaceAll(c.steps, "\n", "\n    "))
	}
	r, err := Run(t.Context(), Options{Address: address(t), Parallel: 4, Dialects: []newqueue.Dialect{newqueue.Design}, Features: []Feature{{"typing.feature", []byte(text.String())}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		name := fmt.Sprintf("the scenario %q (design)", fmt.Sprintf("number %d", i))
		at := slices.IndexFunc(r.Problems, func(p string) bool { return strings.Contains(p, name) })
		if at < 0 {
			t.Errorf("it passes:\n%s", c.steps)
		} else if _, got, _ := strings.Cut(r.Problems[at], name+": "); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\ngot  %s\nwant %s", c.steps, got, c.want)
		}
	}
}

// TestStepsNameWhatTheyTake: a parameter that is neither free nor one of a few words has a check.
func TestStepsNameWhatTheyTake(t *testing.T) {
	for _, pattern := range stepPatterns() {
		for _, name := range groupsOf(pattern) {
			if kind := strings.TrimRight(name, "0123456789"); kind != "" && kind != "kind" && kindsOfNames[kind] == nil {
				t.Errorf("nothing checks %s of %s", name, pattern)
			}
		}
	}
}

// TestBrokenFeatures: what can't run is an error, in the XML and in the report, with its file and line. What can, runs.
func TestBrokenFeatures(t *testing.T) {
	const fine = "Feature: A\n  Scenario: fine\n    Given a held job\n"
	for _, c := range []struct{ what, text, want string }{
		{"empty file", "", "own.feature:1: the file: has no feature: expected a line that begins with Feature:"},
		{"comments only", "# nothing\n", "own.feature:1: the file: has no feature: expected a line that begins with Feature:"},
		{"feature without scenarios", "# ours\nFeature: A\n", `own.feature:2: the file: the feature "A" has no scenario`},
		{"background alone", "Feature: A\n  Background:\n    Given a held job\n", `own.feature:1: the file: the feature "A" has no scenario`},
		{"rule without scenarios", fine + "  Rule: R\n", `own.feature:4: the file: the rule "R" has no scenario`},
		{"not Gherkin", "Feature: A\n  Scenario: x\n    Given a held job\n    nonsense\n", "own.feature:4: the file: can't be read: (4:5): expected: "},
		{"unknown language", "# language: xx\nFeature: A\n", "own.feature:1: the file: can't be read: (1:1): Language not supported: xx"},
		{"cells", "Feature: A\n  Scenario: x\n    Given these jobs in held\n      | job |\n      | A | 5 |\n", "own.feature:5: the file: can't be read: (5:7): inconsistent cell count within the table"},
		{"long line", fine + "# " + strings.Repeat("x", 1<<16) + "\n", "own.feature:4: the file: can't be read: the line is longer than 65535 bytes"},
		{"no steps", fine + "  Scenario: nothing\n", `own.feature:4: the scenario "nothing": it has no steps`},
		{"no steps, with a background", "Feature: A\n  Background:\n    Given a held job\n  Scenario: nothing\n", `own.feature:4: the scenario "nothing": it has no steps`},
		{"no examples", fine + "  Scenario Outline: o\n    Given a held job\n", `own.feature:4: the scenario "o": it is an outline without examples`},
		{"no examples, in German", "# language: de\nFunktionalität: A\n  Szenariogrundriss: o\n    Gegeben sei a held job\n", `own.feature:3: the scenario "o": it is an outline without examples`},
		{"no row", fine + "  Scenario Outline: o\n    Given a <state> job\n    Examples:\n      | state |\n", `own.feature:6: the scenario "o": its examples have no row`},
		{"no table", fine + "  Scenario Outline: o\n    Given a <state> job\n    Examples:\n", `own.feature:6: the scenario "o": its examples have no row`},
		{"one of two without rows", fine + "  Scenario Outline: o\n    Given a <state> job\n    Examples:\n      | state |\n      | held |\n    Examples:\n      | state |\n", `own.feature:9: the scenario "o": its examples have no row`},
		{"placeholder of no column", fine + "  Scenario Outline: o\n    Given a held job\n    When an administrator tries to move the job to <stat>\n    Examples:\n      | state |\n      | held |\n      | failed |\n", `own.feature:6: the scenario "o": the placeholder <stat> is no column of the examples at line 7`},
		{"placeholder in a table", fine + "  Scenario Outline: o\n    Given these jobs in held\n      | job |\n      | <job> |\n    Examples:\n      | state |\n      | held |\n", `own.feature:5: the scenario "o": the placeholder <job> is no column of the examples at line 8`},
		{"placeholder of a scenario", fine + "  Scenario: s\n    Given a <state> job\n", `own.feature:5: the scenario "s": it has the placeholder <state>, and no examples`},
		{"mistyped keyword of a scenario", "Feature: A\n  Scenaro: one\n    Given a held job\n  Scenario: two\n    Given a held job\n", "own.feature:3: the file: a step is taken for a description, and would not run: check the keywords here and above"},
		{"mistyped keyword of a step", fine + "  Scenario: two\n    Givne a held job\n    When an administrator releases the job\n", "own.feature:5: the file: a step is taken for a description, and would not run: check the keywords here and above"},
		{"mistyped keyword of a background", "Feature: A\n  Bakground:\n    Given a held job\n  Scenario: two\n    Given an empty ZooKeeper\n", "own.feature:3: the file: a step is taken for a description, and would not run: check the keywords here and above"},
		{"placeholder of a background", "Feature: A\n  Background:\n    Given a <state> job\n  Scenario: s\n    Given an empty ZooKeeper\n", `own.feature:3: the file: the background has the placeholder <state>, which no row of examples fills in`},
	} {
		t.Run(c.what, func(t *testing.T) {
			var xml bytes.Buffer
			r, err := Run(t.Context(), Options{Address: address(t), JUnit: &xml, Features: []Feature{{"own.feature", []byte(c.text)}, {"fine.feature", []byte(fine)}}})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, p := range r.Problems {
				if strings.HasPrefix(p, "not run: "+c.want) {
					n++
				}
			}
			if n != 1 || !strings.Contains(xml.String(), `errors="1"`) || strings.Count(xml.String(), "<error ") != 1 || !strings.Contains(xml.String(), `classname="mrt-zk/fine.feature" name="fine"`) {
				t.Errorf("want %s\ngot  %s\n%s", c.want, strings.Join(r.Problems, "\n     "), xml.String())
			}
		})
	}
}
