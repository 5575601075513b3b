package report

import (
	"html/template"
	"reflect"

	"mrtq/internal/printable"
)

// scrub makes every text of a view harmless: it shows control characters and
// marks that change the direction of writing as escapes. html/template escapes
// markup. In lists, pack and listColumn.texts do the same.
func scrub(v *view) { scrubValue(reflect.ValueOf(v).Elem()) }

// trusted are the types that need no scrubbing: markup that this package makes
// itself, and lists, which are harmless already.
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
		// Don't change the caller's slice.
		mine := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(mine, v)
		for i := range mine.Len() {
			scrubValue(mine.Index(i))
		}
		v.Set(mine)
	}
}
