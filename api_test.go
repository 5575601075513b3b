package mrtq_test

import (
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// public are the packages that programs outside of this module may import.
var public = []string{"mrtq/legacy", "mrtq/newqueue", "mrtq/newqueue/states", "mrtq/newqueue/lint", "mrtq/migrate", "mrtq/harness", "mrtq/harness/minizk"}

// TestPublicAPINamesNoInternalType: a program outside can name every type that a
// public package takes, returns or has in a field. A type of an internal package
// needs an alias in a public one, and so do the types in its own methods and fields.
func TestPublicAPINamesNoInternalType(t *testing.T) {
	a := api{t: t, named: map[*types.TypeName]bool{}, seen: map[types.Type]bool{}}
	packages := typesOf(t, public)
	for _, p := range packages {
		for _, name := range p.Scope().Names() {
			obj, ok := p.Scope().Lookup(name).(*types.TypeName)
			if !ok || !obj.Exported() || !obj.IsAlias() {
				continue
			}
			if of, ok := types.Unalias(obj.Type()).(*types.Named); ok {
				a.named[of.Obj()] = true
			}
		}
	}
	for _, p := range packages {
		for _, name := range p.Scope().Names() {
			if obj := p.Scope().Lookup(name); obj.Exported() {
				a.check(p.Name()+"."+name, obj.Type())
			}
		}
	}
	if len(a.seen) < 100 {
		t.Errorf("only %d types were checked", len(a.seen))
	}
}

// api walks the types that can be seen from outside.
type api struct {
	t     *testing.T
	named map[*types.TypeName]bool // types of internal packages that an alias names
	seen  map[types.Type]bool
}

// check checks a type, and all types that a program gets from it. where says where
// the program gets the type itself.
func (a *api) check(where string, t types.Type) {
	t = types.Unalias(t)
	if a.seen[t] {
		return
	}
	a.seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		a.checkNamed(where, t)
	case *types.Pointer:
		a.check(where, t.Elem())
	case *types.Slice:
		a.check(where, t.Elem())
	case *types.Array:
		a.check(where, t.Elem())
	case *types.Chan:
		a.check(where, t.Elem())
	case *types.Map:
		a.check(where, t.Key())
		a.check(where, t.Elem())
	case *types.Signature:
		a.checkTuple(where, t.Params())
		a.checkTuple(where, t.Results())
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				a.check(where+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				a.check(where+"."+m.Name(), m.Type())
			}
		}
	}
}

func (a *api) checkTuple(where string, tuple *types.Tuple) {
	for v := range tuple.Variables() {
		a.check(where, v.Type())
	}
}

func (a *api) checkNamed(where string, n *types.Named) {
	for arg := range n.TypeArgs().Types() {
		a.check(where, arg)
	}
	pkg := n.Obj().Pkg()
	if pkg == nil || pkg.Path() != "mrtq" && !strings.HasPrefix(pkg.Path(), "mrtq/") {
		return
	}
	if n.Obj().Exported() && strings.Contains(pkg.Path()+"/", "/internal/") && !a.named[n.Obj()] {
		a.t.Errorf("%s has the type %s of an internal package, and no public package has an alias of it", where, n)
		return
	}
	a.check(where, n.Underlying())
	methods := types.NewMethodSet(types.NewPointer(n))
	for m := range methods.Methods() {
		if m.Obj().Exported() {
			a.check(fmt.Sprintf("%s.%s", where, m.Obj().Name()), m.Obj().Type())
		}
	}
}

// typesOf loads packages from the compiler's export data.
func typesOf(t *testing.T, paths []string) []*types.Package {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, paths...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
	load := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var packages []*types.Package
	for _, path := range slices.Sorted(slices.Values(paths)) {
		p, err := load.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	return packages
}
