package report

import (
	"reflect"
	"time"

	"mrtq/internal/printable"
	"mrtq/migrate"
)

// scrub makes every text of a page's data harmless: it shows control characters and
// marks that change the direction of writing as escapes. html/template escapes
// markup. The caller's data does not change.
func scrub(d *Data) { scrubValue(reflect.ValueOf(d).Elem()) }

// kept are the types that have no text of others, are not shown, or are long: what a view
// takes from those is made harmless there.
var kept = map[reflect.Type]bool{
	reflect.TypeFor[time.Time](): true, reflect.TypeFor[[]migrate.RecordStatus](): true, reflect.TypeFor[[]migrate.PlanRecord](): true,
}

func scrubValue(v reflect.Value) {
	switch {
	case kept[v.Type()] || !v.CanSet():
	case v.Kind() == reflect.String:
		v.SetString(printable.Line(v.String()))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			scrubValue(v.Field(i))
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		mine := reflect.New(v.Type().Elem())
		mine.Elem().Set(v.Elem())
		scrubValue(mine.Elem())
		v.Set(mine)
	case v.Kind() == reflect.Slice && v.Len() > 0 && v.Type().Elem().Kind() != reflect.Uint8:
		mine := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(mine, v)
		for i := range mine.Len() {
			scrubValue(mine.Index(i))
		}
		v.Set(mine)
	}
}
