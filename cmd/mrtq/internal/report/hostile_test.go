package report

import (
	"crypto/sha256"
	"encoding/base64"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/migrate"
)

// nasty are texts that would do harm as markup or script.
var nasty = []string{
	`<script>globalThis.owned = 1</script>`,
	`</script><script>globalThis.owned = 1</script>`,
	`"><img src=x onerror="globalThis.owned = 1">`,
	`' onmouseover='globalThis.owned = 1' x='`,
	`javascript:globalThis.owned=1`,
	`</style><style>*{display:none}</style>`,
	`<!--`, `]]>`, `{{.JS}}`,
	"\x1b[2J\x1b]0;owned\x07", "\u202egpj.exe\u2066\u200f", "\ufeff\u200b\u2028\u2029", "a\nb\r\tc", "\x00\x7f\u0085\xff\xfe",
}

// hostileSample has a nasty text in every text that it can have: see [poison].
func hostileSample() *Data {
	at := 0
	next := func() string { at++; return "/ingest/" + nasty[at%len(nasty)] + nasty[(at*5+1)%len(nasty)] }
	d := sample(200)
	d.Plan = samplePlan(200)
	d.Plan.Services = []migrate.Finding{{}}
	poison(reflect.ValueOf(d).Elem(), next)
	d.Next = func(migrate.Step) advice.Next {
		return advice.Next{First: next(), With: []string{next()}, Command: next(), Ways: []advice.Way{{If: next(), Command: next()}}}
	}
	return d
}

// own are the types whose values only mrtq chooses: none is text of others.
var own = map[reflect.Type]bool{
	reflect.TypeFor[migrate.Outcome](): true, reflect.TypeFor[migrate.RunState](): true, reflect.TypeFor[migrate.Step](): true, reflect.TypeFor[migrate.Kind](): true,
	reflect.TypeFor[migrate.Action](): true, reflect.TypeFor[time.Time](): true,
}

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

// TestHostile: names and payloads appear in the page as text and never as
// markup. TestBrowser lets a browser read the page.
func TestHostile(t *testing.T) {
	html := write(t, hostileSample())
	clean := write(t, sample(200))
	checkHarmless(t, html, clean)
	cells := 0
	for _, l := range listsOf(t, html) {
		for _, row := range l.Rows {
			for _, cell := range row {
				if text, ok := cell.(string); ok {
					cells++
					if harmful.MatchString(text) || strings.Contains(text, "\n") {
						t.Errorf("%s: %q", l.ID, text)
					}
				}
			}
		}
	}
	if cells < 1000 {
		t.Errorf("only %d texts in the lists", cells)
	}
}

// checkHarmless checks that hostile texts in a page are shown as text. clean is the page without them.
func checkHarmless(t *testing.T, html, clean string) {
	t.Helper()
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

// TestPolicy: the page's policy has the digests of the page's own style and
// script, and allows nothing else.
func TestPolicy(t *testing.T) {
	html := write(t, sample(10))
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindStringSubmatch(html)
	if policy == nil {
		t.Fatal("no policy")
	}
	unescaped := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy[1])
	for _, element := range []string{"style", "script"} {
		text := regexp.MustCompile(`(?s)<` + element + `>(.*?)</` + element + `>`).FindStringSubmatch(html)
		if text == nil {
			t.Fatalf("no %s", element)
		}
		sum := sha256.Sum256([]byte(text[1]))
		if want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(unescaped, want) {
			t.Errorf("%s has no %s", unescaped, want)
		}
	}
	if !strings.HasPrefix(unescaped, "default-src 'none'; ") || strings.Contains(unescaped, "unsafe") {
		t.Error(unescaped)
	}
	if strings.Contains(html, "style=") || regexp.MustCompile(`(src|href)="[^#]`).MatchString(html) {
		t.Error("the page has inline styles, or refers to something outside")
	}
}
