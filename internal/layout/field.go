package layout

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// fieldPath leads to values inside JSON: keys with dots between them, and [] for
// every element of an array. The empty path is the value itself.
type fieldPath []string

func parseField(text string) fieldPath {
	if text == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "."), "[]", ".[]"), ".")
}

// values are the values in v at the path. null and missing values don't count.
func (f fieldPath) values(v any) []any {
	if v == nil {
		return nil
	}
	if len(f) == 0 {
		return []any{v}
	}
	switch f[0] {
	case "":
		return f[1:].values(v)
	case "[]":
		var all []any
		switch c := v.(type) {
		case []any:
			for _, e := range c {
				all = append(all, f[1:].values(e)...)
			}
		case map[string]any:
			for _, e := range c {
				all = append(all, f[1:].values(e)...)
			}
		}
		return all
	}
	if o, ok := v.(map[string]any); ok {
		return f[1:].values(o[f[0]])
	}
	return nil
}

// text makes text of a JSON value, for a path or a comparison.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return fmt.Sprintf("%T", v)
}
