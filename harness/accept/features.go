package accept

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cucumber/godog"

	"mrtq/harness/accept/internal/runner"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// files are the features of the new queue, in the order in which a person reads them.
var files = []string{"job.feature", "batch.feature", "access.feature", "acquire.feature", "locks.feature",
	"stories.feature", "start.feature"}

// featuresOf returns all features of the new queue for a dialect: those in features/,
// and one for each entity with the pairs of states that have no transition.
func featuresOf(d newqueue.Dialect) ([]godog.Feature, error) {
	all, err := runner.Features(files...)
	for _, e := range states.Entities {
		all = append(all, godog.Feature{Name: "illegal-" + string(e) + ".feature", Contents: []byte(illegal(e, d))})
	}
	return all, err
}

// in returns the tag that all scenarios have which run in a dialect.
func in(d newqueue.Dialect) string { return "@in-" + string(d) }

// contents returns the features for one dialect, as godog reads them. The dialect
// is in each feature's name, for the reader, and is a tag.
func contents(all []godog.Feature, d newqueue.Dialect) []godog.Feature {
	var out []godog.Feature
	for _, f := range all {
		var b strings.Builder
		for line := range strings.Lines(string(f.Contents)) {
			if title, ok := strings.CutPrefix(line, "Feature: "); ok {
				line = fmt.Sprintf("%s\nFeature: %s, dialect %s\n", in(d), strings.TrimSpace(title), d)
			}
			b.WriteString(line)
		}
		out = append(out, godog.Feature{Name: string(d) + "/" + f.Name, Contents: []byte(b.String())})
	}
	return out
}

// filter returns the tag expression of a run. It selects the scenarios with the
// caller's tags, without those that only the other dialect has (@design, @mrt-zk). Lenient leaves out those
// that are stricter than any document (@newqueue).
func filter(tags string, lenient bool) string {
	clauses := []string{}
	if tags != "" {
		clauses = append(clauses, tags)
	}
	if lenient {
		clauses = append(clauses, "~@newqueue")
	}
	for _, d := range newqueue.Dialects {
		for _, other := range newqueue.Dialects {
			if other != d {
				clauses = append(clauses, fmt.Sprintf("~@%s,~%s", other, in(d)))
			}
		}
	}
	return strings.Join(clauses, " && ")
}

// ErrTags is what Run's error wraps if the tag expression can't be read.
var ErrTags = errors.New(`expected tags such as @J9, with , for or, && for and, ~ for not: "@J9,@J10 && ~@mrt-zk"`)

// oneTag matches a part of a tag expression that godog can read.
var oneTag = regexp.MustCompile(`^\s*~?@[^ @~]+\s*$`)

// CheckTags returns an error that wraps [ErrTags] for an expression that godog can't read.
func CheckTags(tags string) error {
	for _, clause := range strings.Split(tags, "&&") {
		for _, tag := range strings.Split(clause, ",") {
			if tags != "" && !oneTag.MatchString(tag) {
				return fmt.Errorf("tags %q: %w", tags, ErrTags)
			}
		}
	}
	return nil
}

// dialectOf returns the dialect in which a scenario runs.
func dialectOf(sc *godog.Scenario) newqueue.Dialect {
	for _, d := range newqueue.Dialects {
		if slices.Contains(runner.TagsOf(sc), in(d)) {
			return d
		}
	}
	return newqueue.Design
}
