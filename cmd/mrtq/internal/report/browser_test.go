package report

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/harness"
	"mrtq/migrate"
)

var update = flag.Bool("update", false, "rewrite golden files and the pictures in docs/pictures")

// browsers are the program names of a browser on different systems.
var browsers = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// findBrowser returns a browser's path. Without a browser it skips the test,
// unless MRTQ_REQUIRE_BACKENDS names chromium.
func findBrowser(t *testing.T) string {
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	const missing = "no browser: apt-get install chromium-headless-shell (or chromium)"
	if harness.Required("chromium") {
		t.Fatal(missing)
	}
	t.Skip("skipped without a browser: " + missing)
	return ""
}

// browser starts a browser for a test; see [findBrowser].
func browser(t *testing.T) context.Context {
	t.Helper()
	path := findBrowser(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", path, err)
	}
	return ctx
}

// tab is one page in the browser, and the faults that it reported.
type tab struct {
	t   *testing.T
	ctx context.Context
	mu  sync.Mutex
	bad []string // console messages, exceptions, and requests for anything but the file
}

// open opens the page about a migration.
func open(t *testing.T, ctx context.Context, d *Data, width, height int64, before ...step) *tab {
	t.Helper()
	return openPage(t, ctx, func(w io.Writer) error { return Write(w, d) }, width, height, before...)
}

// openPage writes a page to a file and opens that in a window of the given size.
func openPage(t *testing.T, ctx context.Context, write func(io.Writer) error, width, height int64, before ...step) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	b.run(command(network.Enable, network.EnableParams{}), command(cdplog.Enable, cdp.Empty{}), chromedp.EmulateViewport(width, height))
	b.run(before...)
	b.run(chromedp.Navigate("file://"+path), chromedp.WaitReady("html[data-ready]"))
	return b
}

// step is something that the browser does.
type step = chromedp.Action[chromedp.Void]

// command is a command of the browser's protocol.
func command[P, R any](cmd cdp.Command[P, R], params P) step {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, cmd, params)
		return err
	})
}

func (b *tab) listen(event any) {
	complaint := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		complaint = fmt.Sprintf("console.%s", e.Type)
	case *runtime.EventExceptionThrown:
		complaint = e.ExceptionDetails.Text
	case *cdplog.EventEntryAdded:
		complaint = e.Entry.Text
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:///") || !strings.HasSuffix(e.Request.URL, "/report.html") {
			complaint = "it asked for " + e.Request.URL
		}
	}
	if complaint != "" {
		b.mu.Lock()
		b.bad = append(b.bad, complaint)
		b.mu.Unlock()
	}
}

func (b *tab) run(steps ...step) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// js runs statements in the page.
func (b *tab) js(statements string) {
	b.t.Helper()
	eval[bool](b, "(() => { "+statements+"; return true; })()")
}

// eval is the value of an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// want checks the value of an expression in the page.
func want[T comparable](b *tab, expression string, want T) {
	b.t.Helper()
	if got := eval[T](b, expression); got != want {
		b.t.Errorf("%s is %v, want %v", expression, got, want)
	}
}

// quiet checks that the page reported no fault and requested nothing.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, complaint := range b.bad {
		b.t.Errorf("the page: %s", complaint)
	}
}

// cut is the text of the first element that is wider than the window, or than its frame; ""
// if there is none.
const cut = `(() => {
	for (const e of [...document.querySelectorAll('main *, header *, nav *, footer *'), document.documentElement]) {
		const box = e.getBoundingClientRect();
		if (box.width === 0 || box.right < 0) continue; // not shown, or for a screen reader
		if (e.matches('input, select, option, button.close, .skip, .colon')) continue;
		if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 || box.right > innerWidth + 1) return e.outerHTML.slice(0, 200);
	}
	return '';
})()`

// Expressions that several tests evaluate.
const (
	records   = `document.querySelector('[data-list=records]')`
	said      = records + `.querySelector('output').textContent`
	firstCell = records + `.querySelector('tbody tr').cells[0].textContent`
	drawn     = records + `.querySelectorAll('tbody tr').length`
)

func TestBrowser(t *testing.T) {
	ctx := browser(t)
	t.Run("renders", func(t *testing.T) {
		b := open(t, ctx, sample(400), 1280, 900)
		want(b, `document.querySelector('h1 .word').textContent`, "Verified")
		want(b, `getComputedStyle(document.querySelector('h1 .word')).color`, "rgb(18, 102, 58)")
		want(b, said, "400 records")
		want(b, `document.querySelector('#states tbody tr').textContent`, "jobpending2003")
		want(b, `[...document.querySelectorAll('nav a')].every(a => document.querySelector(a.getAttribute('href')))`, true)
		b.quiet()
	})
	t.Run("search and sort", func(t *testing.T) { searchAndSort(t, ctx) })
	t.Run("keyboard", func(t *testing.T) { keyboard(t, ctx) })
	t.Run("hostile", func(t *testing.T) { hostileInBrowser(t, ctx) })
	t.Run("phone", func(t *testing.T) {
		for name, d := range map[string]*Data{"verified": sample(400), "wrong": wronged(), "risky": risky(), "stopped": stopped(), "hostile": hostileSample()} {
			t.Run(name, func(t *testing.T) {
				b := open(t, ctx, d, 390, 844)
				b.js(`document.querySelectorAll('details').forEach(d => d.open = true)`)
				want(b, cut, "")
				want(b, `document.querySelector('.tiles').getBoundingClientRect().bottom <= innerHeight`, true)
				b.quiet()
			})
		}
	})
	t.Run("first screen", func(t *testing.T) {
		b := open(t, ctx, risky(), 1280, 900)
		want(b, `['.tiles', '.facts', '#risks tbody tr', '#risks .path'].every(s => document.querySelector(s).getBoundingClientRect().bottom <= innerHeight)`, true)
		want(b, `document.querySelector('.facts').textContent.includes('--consumed pending, --undecodable quarantine')`, true)
		want(b, `document.querySelector('#risks').textContent.includes('`+risky().Records[2].Path+`')`, true)
	})
	t.Run("pictures", func(t *testing.T) { pictures(t, ctx) })
}

func searchAndSort(t *testing.T, ctx context.Context) {
	b := open(t, ctx, sample(400), 1280, 900)
	search := `[data-list=records] input[type=search]`
	typed := func(text string) {
		b.js(`document.querySelector('` + search + `').value = ''`)
		b.run(chromedp.SendKeys(search, text+" "))
	}
	typed("jid0000000123")
	want(b, said, "1 of 400 records")
	want(b, firstCell, sample(400).Records[123].Path)
	typed("INVENTORY quarantined")
	want(b, said, "4 of 400 records")
	typed("no such thing")
	want(b, said, "0 of 400 records")
	typed("")
	want(b, said, "400 records")
	head := `[data-list=records] th.c-job button`
	b.run(chromedp.Click(head))
	want(b, records+`.querySelector('th.c-job').getAttribute('aria-sort')`, "ascending")
	want(b, firstCell, sample(400).Records[0].Path)
	b.run(chromedp.Click(head))
	want(b, records+`.querySelector('th.c-job').getAttribute('aria-sort')`, "descending")
	want(b, firstCell, sample(400).Records[399].Path)
	// Numbers are sorted as numbers, and a facet filters the rows.
	b.run(chromedp.Click(`[data-list=records] th.c-priority button`), chromedp.Click(`[data-list=records] th.c-priority button`))
	want(b, records+`.querySelector('tbody tr .c-priority').textContent`, "54")
	b.js(`const s = [...` + records + `.querySelectorAll('select')].find(s => [...s.options].some(o => o.text.startsWith('skipped')));
		s.value = [...s.options].find(o => o.text.startsWith('skipped')).value; s.dispatchEvent(new Event('change'))`)
	want(b, said, "4 of 400 records")
	b.quiet()
}

func keyboard(t *testing.T, ctx context.Context) {
	b := open(t, ctx, sample(400), 1280, 900)
	b.js(records + `.querySelector('.open').focus()`)
	b.run(chromedp.KeyEvent(kb.Tab))
	want(b, `document.activeElement.textContent`, sample(400).Records[1].Path)
	b.run(chromedp.KeyEvent(kb.Enter))
	want(b, `document.getElementById('detail').open`, true)
	want(b, `document.getElementById('detail').textContent.includes('/jobs/jid0000000001')`, true)
	b.run(chromedp.KeyEvent(kb.Escape))
	want(b, `document.getElementById('detail').open`, false)
	want(b, `document.activeElement.textContent`, sample(400).Records[1].Path)
	want(b, drawn, 200)
	b.run(chromedp.Click(`[data-list=records] .next-rows`))
	want(b, drawn, 400)
	want(b, records+`.querySelector('.next-rows').hidden`, true)
	b.quiet()
}

func hostileInBrowser(t *testing.T, ctx context.Context) {
	b := open(t, ctx, hostileSample(), 1280, 900)
	b.run(chromedp.Click(`[data-list=records] .open`))
	want(b, `typeof globalThis.owned`, "undefined")
	want(b, `document.querySelectorAll('img, iframe, object, link, form').length`, 0)
	want(b, `document.querySelectorAll('script').length`, 2)
	want(b, `document.title.startsWith('Stopped')`, true)
	// Marks that reverse the direction of writing are shown, not obeyed.
	want(b, `/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/.test(document.documentElement.textContent)`, false)
	want(b, `document.body.textContent.includes('\\u202egpj.exe')`, true)
	want(b, `document.body.textContent.includes('\\u001b[2J')`, true)
	b.quiet()
	// Even if a script got in, it would do nothing: the policy allows only the page's own
	// script.
	want(b, `(() => { const s = document.createElement('script'); s.textContent = 'globalThis.owned = 1'; document.body.append(s); return typeof globalThis.owned; })()`, "undefined")
	want(b, `new Promise(r => { const i = new Image(); i.onload = () => r('loaded'); i.onerror = () => r('refused'); i.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw='; })`, "refused")
}

func emulateScheme(scheme string) step {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// pictures are the pictures of the README. -update takes them again.
func pictures(t *testing.T, ctx context.Context) {
	d := sample(4000)
	d.Verdict.NotMigrated, d.Status.Runs[0].Note = nil, "OPS-42, cutover"
	d.Next = func(migrate.Step) advice.Next {
		return advice.Next{Command: "mrtq release " + sampleTarget}
	}
	for _, scheme := range []string{"light", "dark"} {
		b := open(t, ctx, d, 1120, 1180, emulateScheme(scheme))
		shot := func(take chromedp.Action[[]byte], path string) {
			png, err := chromedp.Run(b.ctx, take)
			if err == nil {
				err = os.WriteFile(path, png, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join("../../../../docs/pictures", "report-"+scheme+".png")
		if *update {
			shot(chromedp.CaptureScreenshot(), path)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%v: go test -update takes it", err)
		}
	}
}
