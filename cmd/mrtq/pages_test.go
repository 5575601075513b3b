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
