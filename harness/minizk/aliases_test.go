package minizk_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"testing"

	"mrtq/harness/minizk"
)

// TestAliasesSayWhatTheyHave: go doc shows only the comment of a type that another package declares. So the comment has its
// exported fields and methods.
func TestAliasesSayWhatTheyHave(t *testing.T) {
	said := map[string]string{}
	for _, file := range []string{"znodes.go", "protocol.go"} {
		f := value(parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments))(t)
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				said[g.Specs[0].(*ast.TypeSpec).Name.Name] = g.Doc.Text()
			}
		}
	}
	types := []reflect.Type{reflect.TypeFor[*minizk.Tree](), reflect.TypeFor[*minizk.Node](), reflect.TypeFor[*minizk.Stat](), reflect.TypeFor[*minizk.ACL](), reflect.TypeFor[*minizk.OpCode](), reflect.TypeFor[*minizk.Code]()}
	for _, typ := range types {
		var names []string
		for m := range typ.Methods() {
			names = append(names, m.Name+`\(`)
		}
		if typ.Elem().Kind() == reflect.Struct {
			for _, field := range reflect.VisibleFields(typ.Elem()) {
				if field.IsExported() {
					names = append(names, field.Name)
				}
			}
		}
		text := said[typ.Elem().Name()]
		for _, name := range names {
			if !regexp.MustCompile(`\b` + name).MatchString(text) {
				t.Errorf("the comment of %s does not have %s", typ.Elem().Name(), name)
			}
		}
	}
	if len(said) != len(types) {
		t.Errorf("%d types are declared, %d were compared", len(said), len(types))
	}
}
