package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	commandInText  = regexp.MustCompile("`mrtq ([a-z]+)\\b")
	commandInBlock = regexp.MustCompile(`^(?:\$ )?mrtq ([a-z]+)\b`)
	otherProgram   = regexp.MustCompile(`go run|docker-compose|docker run|show_all\.rb|make bench`)
)

// Every flag and every command that a page names exists. CHANGELOG.md also names what is gone.
func TestPagesNameFlagsThatExist(t *testing.T) {
	t.Parallel()
	root := newRoot()
	flags, commands := knownFlags(root), map[string]bool{"help": true, "completion": true}
	for _, c := range root.Commands() {
		commands[c.Name()] = true
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages in docs: %v", len(pages), err)
	}
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md", "../../harness/minizk/README.md") {
		text := value(os.ReadFile(page))(t)
		inBlock := false
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "```") {
				inBlock = !inBlock
			}
			if otherProgram.MatchString(line) {
				continue
			}
			for _, name := range flagsIn(line) {
				if !flags[name] {
					t.Errorf("%s names the flag --%s, which no command has", page, name)
				}
			}
			command := commandInText
			if inBlock {
				command = commandInBlock
			}
			for _, m := range command.FindAllStringSubmatch(line, -1) {
				if !commands[m[1]] {
					t.Errorf("%s names the command mrtq %s, which does not exist", page, m[1])
				}
			}
		}
	}
}

var (
	columnsInCode = regexp.MustCompile(`\[\]string\{((?:"[A-Z][A-Z ]*"(?:, )?)+)\}`)
	verdictInText = regexp.MustCompile(`(?m)^(?:2> )?([A-Z][a-z]+: [a-z][a-z ]*)\.`)
)

// TestOutputPage: docs/output.md has each column of the tables, and each verdict that a script shows.
func TestOutputPage(t *testing.T) {
	t.Parallel()
	page := string(value(os.ReadFile("../../docs/output.md"))(t))
	found := map[string]bool{}
	for pattern, each := range map[string]*regexp.Regexp{"*.go": columnsInCode, "internal/view/*.go": columnsInCode, "testdata/s*/*.txtar": verdictInText} {
		paths := value(filepath.Glob(pattern))(t)
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text := value(os.ReadFile(path))(t)
			for _, m := range each.FindAllStringSubmatch(string(text), -1) {
				for _, word := range strings.Split(strings.Trim(m[1], `"`), `", "`) {
					found[word] = true
				}
			}
		}
	}
	if len(found) < 70 {
		t.Errorf("only %d columns and verdicts were found", len(found))
	}
	for word := range found {
		if !strings.Contains(page, "`"+word+"`") && !strings.HasPrefix(word, "First: ") && !strings.HasPrefix(word, "Next: ") {
			t.Errorf("docs/output.md does not explain %q", word)
		}
	}
}
