package report

import (
	"html/template"
	"reflect"

	"mrtq/internal/printable"
)

// scrub makes every text of a view harmless: control characters and marks that
// change the direction of writing are shown, wherever a name or a status came
// from. Markup html/template escapes. Of lists, pack and listColumn.texts do it.
func scrub(v *view) { scrubValue(reflect.ValueOf(v).Elem()) }

// trusted are the types of what this package made itself, and of lists.
var trusted = map[reflect.Type]bool{
	reflect.TypeFor[template.HTML](): true, reflect.TypeFor[template.CSS](): true, reflect.TypeFor[template.JS](): true,
	reflect.TypeFor[list](): true,
}

func scrubValue(v reflect.Value) {
	switch {
	case trusted[v.Type()]:
	case v.Kind() == reflect.String:
		v.SetString(printable.Line(v.String()))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			scrubValue(v.Field(i))
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		scrubValue(v.Elem())
	case v.Kind() == reflect.Slice && v.Len() > 0 && !trusted[v.Type().Elem()]:
		// The caller's own slice stays as it is.
		mine := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(mine, v)
		for i := range mine.Len() {
			scrubValue(mine.Index(i))
		}
		v.Set(mine)
	}
}
