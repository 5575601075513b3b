package migrate

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Package migrate is a library too. Its messages don't name the flags and commands of
// mrtq: the command adds those (cmd/mrtq/nextsteps.go).
func TestMessagesNameNoFlags(t *testing.T) {
	command := regexp.MustCompile(`--[a-z%]|\bmrtq (plan|migrate|verify|rollback|rebuild|restore|release|hold|status|inspect|dump)\b`)
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	below, err := filepath.Glob("*/*.go")
	if err != nil || len(below) < 5 {
		t.Fatal(len(below), err)
	}
	files = append(files, below...)
	set := gotoken.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == gotoken.STRING && command.MatchString(text.Value) {
				t.Errorf("%s: %s", set.Position(text.Pos()), text.Value)
			}
			return true
		})
	}
}
