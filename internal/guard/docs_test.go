package guard_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("docs/*.md")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d pages in docs: %v", len(paths), err)
	}
	all := map[string]string{}
	for _, path := range append(paths, "README.md", "harness/minizk/README.md", "harness/drivers/mrt-zk/README.md") {
		text := value(os.ReadFile(path))(t)
		all[path] = string(text)
	}
	return all
}

func goFiles(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	must(t, err)
	return all
}

var (
	testName  = regexp.MustCompile(`\b((?:Test|Fuzz)[A-Z]\w*)`)
	filePath  = regexp.MustCompile("`((?:cmd|docs|features|harness|internal|legacy|migrate|newqueue)/[\\w/.-]+\\.(?:go|md|feature))`")
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence     = regexp.MustCompile("(?ms)^```.*?^```$")
	functions = regexp.MustCompile("`([\\w/]+\\.go)` · ((?:`\\w+`(?:, )?)+)")
	citation  = regexp.MustCompile(`docs/([\w-]+\.md)(?:, "([^"]+)")?`)
	newLine   = regexp.MustCompile(`\n\s*// ?`)
)

// Every test, file and function that a page names exists, and every test that the Makefile runs.
func TestPagesNameWhatIsThere(t *testing.T) {
	inProject(t)
	tests := map[string]bool{}
	for path, text := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w+)\(`).FindAllStringSubmatch(text, -1) {
				tests[m[1]] = true
			}
		}
	}
	makefile := value(os.ReadFile("Makefile"))(t)
	for _, name := range regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`).FindAllString(string(makefile), -1) { // go test passes if -run matches nothing
		if !slices.ContainsFunc(slices.Collect(maps.Keys(tests)), func(test string) bool { return strings.HasPrefix(test, name) }) {
			t.Errorf("the Makefile runs %s, which does not exist", name)
		}
	}
	for page, text := range pages(t) {
		for _, m := range testName.FindAllStringSubmatch(text, -1) {
			if !tests[m[1]] && page != "harness/minizk/README.md" { // its example shows a test that the reader would write
				t.Errorf("%s names the test %s, which does not exist", page, m[1])
			}
		}
		for _, m := range filePath.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names a file that does not exist: %v", page, err)
			}
		}
		for _, m := range functions.FindAllStringSubmatch(text, -1) {
			for _, name := range strings.Split(strings.ReplaceAll(m[2], "`", ""), ", ") {
				if !declares(t, m[1], name) {
					t.Errorf("%s says that %s declares %s, but it does not", page, m[1], name)
				}
			}
		}
	}
}

// Every promise has a test, a script or a scenario that proves it, and every script and
// scenario that the page names exists.
func TestPromisesAreProved(t *testing.T) {
	inProject(t)
	page := value(os.ReadFile("docs/promises.md"))(t)
	scenarios := ""
	for _, name := range []string{"migration", "services"} {
		text := value(os.ReadFile("features/" + name + ".feature"))(t)
		scenarios += string(text)
	}
	script, scenario := regexp.MustCompile("`([\\w/]+\\.txtar)`"), regexp.MustCompile("`(@[A-Z]\\d+)`")
	promises := strings.Split(string(page), "\n## ")[1:]
	if len(promises) < 10 {
		t.Errorf("only %d promises were checked", len(promises))
	}
	for _, promise := range promises {
		title, text, _ := strings.Cut(promise, "\n")
		_, proofs, _ := strings.Cut(text, "\nTested by ")
		if !testName.MatchString(proofs) && !script.MatchString(proofs) && !scenario.MatchString(proofs) {
			t.Errorf("nothing proves the promise %q", title)
		}
		for _, m := range script.FindAllStringSubmatch(proofs, -1) {
			if _, err := os.Stat("cmd/mrtq/testdata/" + m[1]); err != nil {
				t.Errorf("%s: %v", title, err)
			}
		}
		for _, m := range scenario.FindAllStringSubmatch(proofs, -1) {
			if !regexp.MustCompile(m[1] + `\b`).MatchString(scenarios) {
				t.Errorf("%s: there is no scenario %s", title, m[1])
			}
		}
	}
}

func declares(t *testing.T, path, name string) bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v", err)
		return true
	}
	return regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |var |const |\t)` + name + `\b`).Match(text)
}

// Every link between pages leads to a file and a heading that exist.
func TestPagesLinkToWhatIsThere(t *testing.T) {
	inProject(t)
	all := pages(t)
	for page, text := range all {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			to := page
			if path != "" {
				to = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			} else if anchor != "" && !slices.Contains(anchors(all[to]), anchor) {
				t.Errorf("%s links to %s: %s has no such heading", page, m[1], to)
			}
		}
	}
}

func anchors(text string) []string {
	var all []string
	for _, title := range headings(text) {
		drop := regexp.MustCompile(`[^\w\s-]`).ReplaceAllString(strings.ToLower(title), "")
		all = append(all, strings.ReplaceAll(drop, " ", "-"))
	}
	return all
}

// Every page and section that a comment cites exists. A citation looks like this:
// docs/legacy-format.md, "The key".
func TestCommentsCiteWhatIsThere(t *testing.T) {
	inProject(t)
	all := pages(t)
	cited := 0
	for path, text := range goFiles(t) {
		if path == "internal/guard/docs_test.go" {
			continue
		}
		for _, m := range citation.FindAllStringSubmatch(newLine.ReplaceAllString(text, " "), -1) {
			cited++
			page, there := all["docs/"+m[1]]
			if !there {
				t.Errorf("%s cites docs/%s, which does not exist", path, m[1])
			} else if m[2] != "" && !slices.Contains(headings(page), m[2]) {
				t.Errorf("%s cites docs/%s, %q: the page has no such section", path, m[1], m[2])
			}
		}
	}
	if cited == 0 {
		t.Error("no comment cites a page")
	}
}

func headings(text string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		all = append(all, m[1])
	}
	return all
}

func value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
