package runner

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	gherkin "github.com/cucumber/gherkin/go/v26"
	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v21"

	"mrtq/features"
)

// Feature is a feature file, for one dialect.
type Feature struct {
	Path    string // as a person names the file
	Text    []byte
	Dialect string // "" if the scenarios are of no dialect
	Without string // scenarios with this tag don't run; "" for none
}

// Own returns feature files of mrtq.
func Own(names ...string) (all []Feature, err error) {
	for _, name := range names {
		text, err := features.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, Feature{Path: name, Text: text})
	}
	return all, nil
}

func (f Feature) uri() string { return strings.TrimPrefix(f.Dialect+"/"+f.Path, "/") }

// part is a scenario, or a row of the examples of an outline.
type part struct {
	Case
	scenario int // the line of the scenario
	from, to int // the lines that are only about this part
}

func read(f Feature, isStep func(string) bool) (parts []part, faults []Case) {
	fault := func(line int, format string, args ...any) {
		faults = append(faults, Case{Path: f.Path, Line: line, Class: f.Path, Title: "the file", Broken: true, Failed: fmt.Errorf(format, args...)})
	}
	for i, line := range bytes.Split(f.Text, []byte("\n")) {
		if len(line) >= bufio.MaxScanTokenSize { // the parser would take it for the end of the file
			fault(i+1, "can't be read: the line is longer than %d bytes", bufio.MaxScanTokenSize-1)
			return nil, faults
		}
	}
	doc, err := gherkin.ParseGherkinDocument(bytes.NewReader(f.Text), (&messages.Incrementing{}).NewId)
	switch {
	case err != nil:
		fault(lineIn(err.Error()), "can't be read: %s", strings.Join(strings.Split(strings.TrimPrefix(err.Error(), "Parser errors:\n"), "\n"), "; "))
		return nil, faults
	case doc.Feature == nil:
		fault(1, "has no feature: expected a line that begins with Feature:")
		return nil, faults
	}
	if line := hiddenStep(doc.Feature, f.Text, isStep); line > 0 {
		fault(line, "a step is taken for a description, and would not run: check the keywords here and above")
	}
	outline := gherkin.DialectsBuiltin().GetDialect(doc.Feature.Language).ScenarioOutlineKeywords()
	var begin []int // the first line of each scenario, background and rule
	for _, c := range children(doc.Feature) {
		begin = append(begin, c.begin)
		switch {
		case c.empty != nil:
			fault(c.begin, "the rule %q has no scenario", c.empty.Name)
		case c.background != nil:
			if left, line := leftover(c.background.Steps, nil); left != "" {
				fault(line, "the background has the placeholder %s, which no row of examples fills in", left)
			}
		case c.scenario != nil:
			parts = append(parts, partsOf(f, c.scenario, c.tags, slices.Contains(outline, c.scenario.Keyword))...)
		}
	}
	if len(parts) == 0 && len(faults) == 0 {
		fault(int(doc.Feature.Location.Line), "the feature %q has no scenario", doc.Feature.Name)
	}
	begin = append(begin, bytes.Count(f.Text, []byte("\n"))+2)
	for i := range parts {
		if p := &parts[i]; p.to == 0 {
			p.to = begin[slices.IndexFunc(begin, func(line int) bool { return line > p.from })]
		}
	}
	title(parts)
	return parts, faults
}

// child is a scenario or a background of a feature, or the begin of a rule.
type child struct {
	begin      int
	background *messages.Background
	scenario   *messages.Scenario
	tags       []*messages.Tag // of the scenario
	empty      *messages.Rule  // without scenarios
}

func children(f *messages.Feature) (all []child) {
	add := func(b *messages.Background, sc *messages.Scenario, tags []*messages.Tag) {
		switch {
		case b != nil:
			all = append(all, child{begin: int(b.Location.Line), background: b})
		case sc != nil:
			all = append(all, child{begin: first(sc.Location, sc.Tags), scenario: sc, tags: append(slices.Clone(tags), sc.Tags...)})
		}
	}
	for _, c := range f.Children {
		add(c.Background, c.Scenario, f.Tags)
		if c.Rule == nil {
			continue
		}
		rule := child{begin: first(c.Rule.Location, c.Rule.Tags)}
		if !slices.ContainsFunc(c.Rule.Children, func(r *messages.RuleChild) bool { return r.Scenario != nil }) {
			rule.empty = c.Rule
		}
		all = append(all, rule)
		for _, r := range c.Rule.Children {
			add(r.Background, r.Scenario, append(slices.Clone(f.Tags), c.Rule.Tags...))
		}
	}
	return all
}

// hiddenStep returns the first line of a description that is a step behind its first word; 0 for none. If a keyword is mistyped,
// Gherkin takes it and what follows for a description.
func hiddenStep(f *messages.Feature, text []byte, isStep func(string) bool) int {
	described := map[string]bool{}
	add := func(description string) {
		for line := range strings.Lines(description) {
			described[strings.TrimSpace(line)] = true
		}
	}
	add(f.Description)
	for _, c := range f.Children {
		if c.Rule != nil {
			add(c.Rule.Description)
		}
	}
	for _, c := range children(f) {
		if c.background != nil {
			add(c.background.Description)
		}
		if c.scenario != nil {
			add(c.scenario.Description)
		}
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		_, step, _ := strings.Cut(line, " ")
		if isStep != nil && described[line] && isStep(strings.TrimSpace(step)) {
			return i + 1
		}
	}
	return 0
}

func partsOf(f Feature, sc *messages.Scenario, tags []*messages.Tag, outline bool) (parts []part) {
	whole := part{scenario: int(sc.Location.Line), from: first(sc.Location, sc.Tags)}
	whole.Case = Case{Path: f.Path, Line: whole.scenario, Dialect: f.Dialect, Class: f.uri(), Name: sc.Name, Tags: names(tags)}
	broken := func(p part, format string, args ...any) part {
		p.Broken, p.Failed, p.Class = true, fmt.Errorf(format, args...), f.Path
		return p
	}
	switch {
	case len(sc.Steps) == 0:
		return []part{broken(whole, "it has no steps")}
	case outline && len(sc.Examples) == 0:
		return []part{broken(whole, "it is an outline without examples")}
	case len(sc.Examples) == 0:
		if left, line := leftover(sc.Steps, nil); left != "" {
			whole.Line = line
			return []part{broken(whole, "it has the placeholder %s, and no examples", left)}
		}
		return []part{whole}
	}
	for _, examples := range sc.Examples {
		block := whole
		block.Line, block.Tags = int(examples.Location.Line), append(slices.Clone(whole.Tags), names(examples.Tags)...)
		if len(examples.TableBody) == 0 {
			block.from, block.to = block.Line, block.Line // there is nothing to leave out
			parts = append(parts, broken(block, "its examples have no row"))
			continue
		}
		var columns []string
		for _, cell := range examples.TableHeader.Cells {
			columns = append(columns, "<"+cell.Value+">")
		}
		left, line := leftover(sc.Steps, columns)
		for _, row := range examples.TableBody {
			p := block
			p.Line, p.from, p.to = int(row.Location.Line), int(row.Location.Line), int(row.Location.Line)+1
			for i, cell := range row.Cells {
				p.Name = strings.ReplaceAll(p.Name, columns[i], cell.Value)
			}
			if left != "" {
				p.Line = line
				p = broken(p, "the placeholder %s is no column of the examples at line %d", left, examples.Location.Line)
			}
			if parts = append(parts, p); left != "" {
				break // once for all rows
			}
		}
		if left != "" { // so no row of the block runs
			last := &parts[len(parts)-1]
			last.to = int(examples.TableBody[len(examples.TableBody)-1].Location.Line) + 1
		}
	}
	return parts
}

var placeholder = regexp.MustCompile(`<[^<>\n]+>`)

func leftover(steps []*messages.Step, columns []string) (string, int) {
	for _, step := range steps {
		texts := []string{step.Text}
		if step.DocString != nil {
			texts = append(texts, step.DocString.Content)
		}
		if step.DataTable != nil {
			for _, row := range step.DataTable.Rows {
				for _, cell := range row.Cells {
					texts = append(texts, cell.Value)
				}
			}
		}
		for _, found := range placeholder.FindAllString(strings.Join(texts, "\n"), -1) {
			if !slices.Contains(columns, found) {
				return found, int(step.Location.Line)
			}
		}
	}
	return "", 0
}

func title(parts []part) {
	same, count := map[string]int{}, map[string]int{}
	for _, p := range parts {
		same[p.Name]++
	}
	for i := range parts {
		p := &parts[i]
		p.Title = p.Name
		if same[p.Name] == 1 && p.Name != "" {
			continue
		}
		for same[p.Title] > 0 || p.Title == "" {
			count[p.Name]++
			p.Title = strings.TrimSpace(fmt.Sprintf("%s #%d", p.Name, count[p.Name]))
		}
		same[p.Title] = 1
	}
}

// without returns the text of a feature without some parts. All other lines keep their numbers, which godog prints.
func without(text []byte, parts []part) []byte {
	lines := bytes.Split(text, []byte("\n"))
	for _, p := range parts {
		for line := p.from; line < min(p.to, len(lines)+1); line++ {
			lines[line-1] = nil
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

func first(at *messages.Location, tags []*messages.Tag) int {
	if len(tags) > 0 {
		at = tags[0].Location
	}
	return int(at.Line)
}

func names(tags []*messages.Tag) (all []string) {
	for _, tag := range tags {
		all = append(all, tag.Name)
	}
	return all
}

var place = regexp.MustCompile(`\((\d+):\d+\)`)

func lineIn(message string) int {
	if found := place.FindStringSubmatch(message); found != nil {
		line, _ := strconv.Atoi(found[1])
		return line
	}
	return 1
}

// ErrTags is the error of [CheckTags].
var ErrTags = errors.New(`expected tags such as @J9, with , for or, && for and, ~ for not: "@J9,@J10 && ~@mrt-zk"`)

var oneTag = regexp.MustCompile(`^\s*~?@[^ @~]+\s*$`)

// CheckTags returns an error that wraps [ErrTags] for an expression that [Options] can't have.
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

func selects(expression string, tags []string) bool {
	for _, clause := range strings.Split(expression, "&&") {
		if !slices.ContainsFunc(strings.Split(clause, ","), func(tag string) bool {
			name, not := strings.CutPrefix(strings.TrimSpace(tag), "~")
			return name == "" || slices.Contains(tags, name) != not
		}) {
			return false
		}
	}
	return true
}

// lines returns the lines of the scenarios of a file and of its steps, by the ids that godog gives them when it reads the same
// files in the same order.
func lines(f godog.Feature, newID func() string) map[string]int {
	doc, err := gherkin.ParseGherkinDocument(bytes.NewReader(f.Contents), newID)
	if err != nil {
		return nil // it was read before
	}
	at := map[string]int{}
	for _, c := range children(doc.Feature) {
		var steps []*messages.Step
		if c.background != nil {
			steps = c.background.Steps
		}
		if c.scenario != nil {
			steps, at[c.scenario.Id] = c.scenario.Steps, int(c.scenario.Location.Line)
			for _, examples := range c.scenario.Examples {
				for _, row := range examples.TableBody {
					at[row.Id] = int(row.Location.Line)
				}
			}
		}
		for _, step := range steps {
			at[step.Id] = int(step.Location.Line)
		}
	}
	for _, p := range gherkin.Pickles(*doc, f.Name, newID) {
		at[p.Id] = at[p.AstNodeIds[len(p.AstNodeIds)-1]]
	}
	return at
}
