package newqueue_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"mrtq/newqueue"
)

// TestQueueTableHasEveryMethod: the comment of Queue names each of its methods,
// and in the table only names that are methods.
func TestQueueTableHasEveryMethod(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "queue.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var comment string
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && g.Specs[0].(*ast.TypeSpec).Name.Name == "Queue" {
			comment = g.Doc.Text()
		}
	}
	named := map[string]bool{}
	for _, word := range strings.FieldsFunc(comment, func(r rune) bool { return strings.ContainsRune(" \t\n.,:[]", r) }) {
		named[word] = true
	}
	methods := reflect.TypeFor[*newqueue.Queue]()
	for m := range methods.Methods() {
		if !named[m.Name] {
			t.Errorf("the comment of Queue does not name %s", m.Name)
		}
	}
	for line := range strings.Lines(comment) {
		if !strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "\tWHO") {
			continue
		}
		for _, word := range strings.Fields(line) {
			if _, ok := methods.MethodByName(word); !ok && word != strings.ToLower(word) {
				t.Errorf("the table names %s, which is no method of Queue", word)
			}
		}
	}
}
