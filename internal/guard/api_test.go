package guard_test

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

var public = []string{"mrtq/legacy", "mrtq/newqueue", "mrtq/newqueue/client", "mrtq/newqueue/states", "mrtq/migrate", "mrtq/harness", "mrtq/harness/minizk"}

// unnameable are types of internal packages that programs outside can use and not name.
var unnameable = map[string]string{
	"mrtq/migrate/internal/plan.FindingItem":    "read only: the items of Finding.Items",
	"mrtq/migrate/internal/plan.Batch":          "read only: the batches of a Plan",
	"mrtq/migrate/internal/ledger.Owners":       "read only: the owners of a HoldStatus",
	"mrtq/migrate/internal/verify.RecordCounts": "read only: the records of a Verdict",
	"mrtq/migrate/internal/plan.Settings":       "read only: the settings of a Plan",
	"mrtq/migrate/internal/source.Node":         "read only: the legacy queue nodes of a Source",
	"mrtq/migrate/internal/source.Lock":         "read only: the locks of a Source",
	"mrtq/migrate/internal/ledger.Hash":         "read and printed only: String gives it in hexadecimal",
	"mrtq/migrate/internal/ledger.Release":      "read only: the items of Run.Releases",
	"mrtq/internal/zkconn.Address":              "OpenSide sets it",
	"mrtq/internal/zkconn.Limiter":              "migrate lacks a name for it",
}

// TestPublicAPINamesNoInternalType: a program outside can name every type that a
// function of a public package takes or returns, and every type of a field. A type
// of an internal package needs an alias in a public one, and so do its fields.
// Methods of such a type are left out: sessions, for instance, have many that
// only mrtq itself calls.
func TestPublicAPINamesNoInternalType(t *testing.T) {
	a := api{t: t, named: map[*types.TypeName]bool{}, seen: map[types.Type]bool{}, met: map[string]bool{}}
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
	for name := range unnameable {
		if !a.met[name] {
			t.Errorf("no public package uses %s, or it has an alias now: remove it from unnameable", name)
		}
	}
	if len(a.seen) < 100 {
		t.Errorf("only %d types were checked", len(a.seen))
	}
}

type api struct {
	t     *testing.T
	named map[*types.TypeName]bool // types of internal packages that an alias names
	seen  map[types.Type]bool
	met   map[string]bool // of unnameable
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
	internal := strings.Contains(pkg.Path()+"/", "/internal/")
	if n.Obj().Exported() && internal && !a.named[n.Obj()] {
		if name := pkg.Path() + "." + n.Obj().Name(); unnameable[name] != "" {
			a.met[name] = true
			return
		}
		a.t.Errorf("%s has the type %s of an internal package, and no public package has an alias of it", where, n)
		return
	}
	a.check(where, n.Underlying())
	if internal {
		return
	}
	methods := types.NewMethodSet(types.NewPointer(n))
	for m := range methods.Methods() {
		if m.Obj().Exported() {
			a.check(fmt.Sprintf("%s.%s", where, m.Obj().Name()), m.Obj().Type())
		}
	}
}

func typesOf(t *testing.T, paths []string) []*types.Package {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, paths...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct{ ImportPath, Export string }
		must(t, dec.Decode(&p))
		exports[p.ImportPath] = p.Export
	}
	load := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var packages []*types.Package
	for _, path := range slices.Sorted(slices.Values(paths)) {
		p := value(load.Import(path))(t)
		packages = append(packages, p)
	}
	return packages
}
