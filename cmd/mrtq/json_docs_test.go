package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/cmd/mrtq/internal/view"
	"mrtq/harness/rehearse"
	restored "mrtq/internal/restore"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

var jsonOutputs = map[string]any{
	"inspect":  []view.Record{},
	"check":    checked{},
	"restore":  restored.Result{},
	"plan":     migration.Plan{},
	"migrate":  migrated{},
	"verify":   verified{},
	"rehearse": rehearse.Report{},
	"rollback": rolledBack{},
	"complete": migrate.CompleteResult{},
	"status":   statusOutput{},
	"show":     shown{},
	"hold":     migrate.HoldResult{},
	"release":  migrate.ReleaseResult{},
	"follow":   migration.Followed{},
	"version":  built{},
}

// jsonTypes are the types that docs/json.md describes once, because several commands print them.
var jsonTypes = map[reflect.Type]string{
	reflect.TypeFor[migration.Note]():           "note",
	reflect.TypeFor[view.Record]():              "record",
	reflect.TypeFor[migration.Choices]():        "choices",
	reflect.TypeFor[migration.Problem]():        "problem",
	reflect.TypeFor[migration.Verdict]():        "verdict",
	reflect.TypeFor[migration.LegacyActivity](): "activity",
	reflect.TypeFor[migration.Hold]():           "hold",
	reflect.TypeFor[migration.Queues]():         "queues",
	reflect.TypeFor[migration.Counts]():         "counts",
	reflect.TypeFor[znode.ACL]():                "ACL",
}

// docs/json.md has a section for each command with -o json and for each of these types, with a row for each field that
// exists, and no other rows.
func TestJSONDocumented(t *testing.T) {
	text := value(os.ReadFile("../../docs/json.md"))(t)
	sections := map[string]string{}
	for _, s := range strings.Split(string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(s, "\n")
		sections[strings.Trim(title, "`")] = body
	}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\|")
	outputs := map[string]any{"A refusal": refusal{}}
	for of, name := range jsonTypes {
		if name != "verdict" { // its fields are in the section of verify
			outputs["Type "+name] = reflect.Zero(of).Interface()
		}
	}
	for _, c := range newRoot().Commands() {
		output := c.Flags().Lookup("output")
		if output == nil || !strings.Contains(output.Value.Type(), "json") {
			continue
		}
		of, ok := jsonOutputs[c.Name()]
		if !ok {
			t.Errorf("%s has -o json, and jsonOutputs doesn't say what it prints", c.Name())
		}
		outputs[c.Name()] = of
	}
	for section, of := range outputs {
		var got []string
		for _, m := range row.FindAllStringSubmatch(sections[section], -1) {
			got = append(got, m[1]+": "+strings.TrimSpace(m[2]))
		}
		want := fields(reflect.TypeOf(of), "")
		slices.Sort(got)
		slices.Sort(want)
		for _, f := range want {
			if !slices.Contains(got, f) {
				t.Errorf("docs/json.md, %s: no row for `%s`", section, strings.Replace(f, ": ", "` | ", 1))
			}
		}
		for _, f := range got {
			if !slices.Contains(want, f) {
				t.Errorf("docs/json.md, %s: there is no `%s`", section, f)
			}
		}
	}
}

// fields lists the fields that encoding/json writes for a type, each with its path. [] in a
// path is an item of a list, and {} a value of an object with varying keys.
func fields(t reflect.Type, path string) []string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return []string{path + ": time"}
	case jsonTypes[t] != "" && path != "":
		return []string{path + ": " + jsonTypes[t]}
	case path == "": // a plan marshals itself: the same fields, with no list null
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return []string{path + ": string"}
	case t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return []string{path + ": value"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return fields(t.Elem(), path)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return []string{path + ": bytes"}
		}
		return fields(t.Elem(), path+"[]")
	case reflect.Map:
		return fields(t.Elem(), path+"{}")
	case reflect.Struct:
		var out []string
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && name == "":
				out = append(out, unhidden(t, fields(f.Type, path), path)...)
			case !f.IsExported() || name == "-":
			case path == "":
				out = append(out, fields(f.Type, name)...)
			default:
				out = append(out, fields(f.Type, path+"."+name)...)
			}
		}
		return out
	case reflect.String:
		return []string{path + ": string"}
	case reflect.Bool:
		return []string{path + ": boolean"}
	case reflect.Interface:
		return []string{path + ": any"}
	}
	return []string{fmt.Sprintf("%s: number", path)}
}

// unhidden leaves out those fields of an embedded struct that t hides with its own fields.
func unhidden(t reflect.Type, embedded []string, path string) []string {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		own := strings.TrimPrefix(path+"."+name, ".")
		embedded = slices.DeleteFunc(embedded, func(f string) bool {
			return strings.HasPrefix(f, own) && strings.ContainsAny(f[len(own):len(own)+1], ".:[{")
		})
	}
	return embedded
}
