package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"mrtq/internal/statedraw"
)

// nasty are texts that would do harm as markup or script.
var nasty = []string{
	`<script>globalThis.owned = 1</script>`,
	`</script><script>globalThis.owned = 1</script>`,
	`"><img src=x onerror="globalThis.owned = 1">`,
	`' onmouseover='globalThis.owned = 1' x='`,
	`javascript:globalThis.owned=1`,
	`</style><style>*{display:none}</style>`,
	`<!--`, `]]>`, `{{.Packed}}`,
	"\x1b[2J\x1b]0;owned\x07", "\u202egpj.exe\u2066\u200f", "\ufeff\u200b\u2028\u2029", "a\nb\r\tc", "\x00\x7f\u0085\xff\xfe",
}

// hostileSample has a nasty text in every field that can have a text.
func hostileSample() *Data {
	at := 0
	next := func() string { at++; return "/ingest/" + nasty[at%len(nasty)] + nasty[(at*5+1)%len(nasty)] }
	d := sample(200)
	for i := range d.Records {
		r := &d.Records[i]
		r.Path, r.Queue, r.Status, r.Format, r.Reason, r.Job, r.Batch, r.State = next(), next(), next(), next(), next(), next(), next(), next()
		r.Planned, r.Forced = next(), next()
	}
	d.Source, d.Target, d.Runs[0].Owner = next(), next(), next()
	d.Runs[0].Source = next()
	d.Next = Next{next(), next(), next(), next(), next()}
	d.Plan.Again, d.Plan.ACL, d.Plan.Missing = []string{next()}, next(), []string{next()}
	d.Plan.Services = []ServiceNote{{What: next(), Then: next(), Blocking: true, Paths: []string{next()}}}
	d.Plan.Risks = []Risk{{Choice: next(), Twice: 1}}
	d.Plan.Vanished = []Note{{next(), next()}}
	d.Plan.Warnings = nil
	for range nasty {
		d.Plan.Locks = append(d.Plan.Locks, LegacyLock{next(), next(), next(), next()})
		d.Plan.Warnings = append(d.Plan.Warnings, Note{next(), next()})
		d.Holds = append(d.Holds, Hold{Path: next(), By: next()})
		d.Locks = append(d.Locks, Lock{next(), next()})
		d.Queue = append(d.Queue, StateCount{Entity: "job", State: next(), Others: 1})
		d.Check.Findings = append(d.Check.Findings, Finding{next(), next(), next(), next(), next(), next()})
		d.Coverage.Rows = append(d.Coverage.Rows, CoverageRow{ID: next(), What: next(), Result: next(), Why: []string{next()}})
		d.Policies = append(d.Policies, Policy{Name: next(), Value: next(), Default: next(), What: next()})
		d.Batches = append(d.Batches, Batch{next(), next(), next()})
	}
	m := machine()
	m.States = append(m.States, statedraw.State{Name: next()})
	d.Machines = []statedraw.Machine{m}
	return d
}

func write(t testing.TB, d *Data) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// harmful are characters that a page must not contain.
var harmful = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Cf}\x{2028}\x{2029}]`)

// TestHostile: names and payloads appear in the page as text and never as
// markup. TestBrowser lets a browser read the page.
func TestHostile(t *testing.T) {
	html := write(t, hostileSample())
	clean := write(t, sample(200))
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
	for _, l := range unpacked(t, html) {
		for _, c := range l.Columns {
			for _, text := range append(strings.Split(c.Lines, "\n"), c.Words...) {
				if harmful.MatchString(text) || strings.Contains(text, "\n") {
					t.Errorf("%s %s: %q", l.ID, c.Name, text)
				}
			}
		}
	}
}

// TestWriteLeavesData: Write does not change the caller's data.
func TestWriteLeavesData(t *testing.T) {
	d := hostileSample()
	before := d.Coverage.Rows[3].Why[0]
	write(t, d)
	if d.Coverage.Rows[3].Why[0] != before || d.Holds[2] != hostileSample().Holds[2] {
		t.Error("Write changed the caller's data")
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
