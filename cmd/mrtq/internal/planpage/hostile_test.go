package planpage

import (
	"crypto/sha256"
	"encoding/base64"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"mrtq/migrate/migration"
)

// nasty are texts that would do harm as markup or script.
var nasty = []string{
	`<script>globalThis.owned = 1</script>`,
	`"><img src=x onerror="globalThis.owned = 1">`,
	`' onmouseover='globalThis.owned = 1' x='`,
	`javascript:globalThis.owned=1`,
	`</style><style>*{display:none}</style>`,
	`<!--`, `]]>`, `{{.CSS}}`,
	"\x1b[2J\x1b]0;owned\x07", "\u202egpj.exe\u2066\u200f", "\ufeff\u200b\u2028\u2029", "a\nb\r\tc", "\x00\x7f\u0085\xff\xfe",
}

// own are the types whose values only mrtq chooses: none is text of others.
var own = map[reflect.Type]bool{reflect.TypeFor[migration.Action](): true, reflect.TypeFor[migration.Effect](): true, reflect.TypeFor[time.Time](): true}

// poison sets every text below a value. A slice gets elements until it has some of each kind
// of nasty text.
func poison(v reflect.Value, next func() string) {
	switch {
	case own[v.Type()] || !v.CanSet():
	case v.Kind() == reflect.String:
		v.SetString(next())
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			poison(v.Field(i), next)
		}
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		poison(v.Elem(), next)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		for v.Len() < len(nasty) {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		}
		for i := range v.Len() {
			poison(v.Index(i), next)
		}
	}
}

// harmful are characters that a page must not contain.
var harmful = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Cf}\x{2028}\x{2029}]`)

// TestHostile: names and payloads appear in the page as text and never as markup.
func TestHostile(t *testing.T) {
	at := 0
	next := func() string { at++; return "/ingest/" + nasty[at%len(nasty)] + nasty[(at*5+1)%len(nasty)] }
	d := sample(200)
	poison(reflect.ValueOf(d).Elem(), next)
	html, clean := write(t, d), write(t, sample(200))
	for _, tag := range []string{"<script", "<style", "<img", "<!--", "onerror=\"", "<iframe"} {
		if got, want := strings.Count(html, tag), strings.Count(clean, tag); got != want {
			t.Errorf("the page has %d times %s, want %d, as in a page without hostile texts", got, tag, want)
		}
	}
	if at := harmful.FindStringIndex(html); at != nil {
		t.Errorf("a harmful character: %q", html[max(0, at[0]-60):at[1]])
	}
	if !strings.Contains(html, `\u202egpj.exe`) || !strings.Contains(html, `\u001b[2J`) {
		t.Error("a harmful character is not shown as an escape")
	}
}

// TestPolicy: the page has no script, and its policy has the digest of the page's own style, and allows nothing
// else.
func TestPolicy(t *testing.T) {
	html := write(t, sample(10))
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindStringSubmatch(html)
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(html)
	if policy == nil || style == nil {
		t.Fatal("no policy, or no style")
	}
	unescaped := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy[1])
	sum := sha256.Sum256([]byte(style[1]))
	if want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"; unescaped != want {
		t.Errorf("%s, want %s", unescaped, want)
	}
	if strings.Contains(html, "<script") || strings.Contains(html, "style=") || regexp.MustCompile(`(src|href)="[^#]`).MatchString(html) {
		t.Error("the page has a script or inline styles, or refers to something outside")
	}
}
