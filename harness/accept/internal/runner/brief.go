package runner

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/cucumber/godog"
	"github.com/cucumber/godog/colors"
)

func init() {
	godog.Format(string(Brief), "a line for each feature, and the steps of what failed", newBrief)
}

// brief is godog's formatter for [Brief]. If the output should have no colours, godog
// removes them.
type brief struct {
	*godog.BaseFmt
	out io.Writer

	mu     sync.Mutex
	names  map[string]string // features' names, by URI
	now    string            // URI of the feature that runs
	ran    int               // how many scenarios of that feature have run
	failed []string          // those that failed, with their steps
	said   []string          // the steps of the current scenario so far
}

func newBrief(suite string, out io.Writer) godog.Formatter {
	return &brief{BaseFmt: godog.NewBaseFmt(suite, out), out: out, names: map[string]string{}}
}

func (b *brief) Feature(doc *godog.GherkinDocument, uri string, _ []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if doc.Feature != nil {
		b.names[uri] = doc.Feature.Name
	}
}

// Pickle is called when a scenario begins. Scenarios run one at a time.
func (b *brief) Pickle(p *godog.Scenario) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.Uri != b.now {
		b.printFeature()
		b.now = p.Uri
	}
	b.ran++
	b.said = nil
}

// printFeature prints the result of the feature that has just run.
func (b *brief) printFeature() {
	if b.ran > 0 {
		if len(b.failed) == 0 {
			fmt.Fprintf(b.out, "%s %s  %s\n", colors.Green("passed"), scenarios(b.ran), b.names[b.now])
		} else {
			fmt.Fprintf(b.out, "%s %s  %s: %d of them failed\n", colors.Red("FAILED"), scenarios(b.ran), b.names[b.now], len(b.failed))
		}
		for _, f := range b.failed {
			fmt.Fprint(b.out, f)
		}
	}
	b.ran, b.failed = 0, nil
}

func scenarios(n int) string {
	if n == 1 {
		return "  1 scenario "
	}
	return fmt.Sprintf("%3d scenarios", n)
}

func (b *brief) Passed(_ *godog.Scenario, step *godog.Step, _ *godog.StepDefinition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, step.Text)
}

func (b *brief) Undefined(p *godog.Scenario, step *godog.Step, _ *godog.StepDefinition) {
	b.fail(p, step, "no definition matches this step")
}

func (b *brief) Pending(p *godog.Scenario, step *godog.Step, _ *godog.StepDefinition) {
	b.fail(p, step, "the step is not implemented yet")
}

func (b *brief) Failed(p *godog.Scenario, step *godog.Step, _ *godog.StepDefinition, err error) {
	b.fail(p, step, err.Error())
}

func (b *brief) Ambiguous(p *godog.Scenario, step *godog.Step, _ *godog.StepDefinition, err error) {
	b.fail(p, step, err.Error())
}

func (b *brief) fail(p *godog.Scenario, step *godog.Step, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s strings.Builder
	fmt.Fprintf(&s, "  Scenario: %s\n", p.Name)
	for _, text := range b.said {
		fmt.Fprintf(&s, "    %s\n", text)
	}
	fmt.Fprintf(&s, "    %s\n", colors.Red(step.Text))
	fmt.Fprintf(&s, "      %s\n", strings.ReplaceAll(why, "\n", "\n      "))
	b.failed = append(b.failed, s.String())
}

func (b *brief) Summary() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.printFeature()
}
