package accept

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/beevik/etree"
	"github.com/cucumber/godog"
)

// decorate completes what godog wrote as JUnit's XML: a failure leads to its scenario's place and to the flags that run it alone, a
// scenario that is not offered is skipped, and what had not ended when the run stopped is left out; why is the reason then.
func (s *suite) decorate(xml []byte, features []godog.Feature, why error, w io.Writer) error {
	doc := etree.NewDocument()
	if err := doc.ReadFromBytes(xml); err != nil {
		return fmt.Errorf("godog's JUnit: %w", err)
	}
	root := doc.Root()
	for _, of := range root.SelectElements("testsuite") {
		for _, test := range of.SelectElements("testcase") {
			title := of.SelectAttrValue("name", "")
			test.CreateAttr("classname", title)
			name := example.ReplaceAllString(test.SelectAttrValue("name", ""), "")
			failure := test.SelectElement("failure")
			is := func(sc scenario) bool {
				return sc.name == name && strings.HasSuffix(title, ", dialect "+string(sc.dialect))
			}
			failed := slices.IndexFunc(s.ran, func(sc scenario) bool { return sc.failed != nil && is(sc) })
			switch {
			case slices.ContainsFunc(s.lacking, is):
				test.Child = nil
				test.CreateElement("skipped").CreateAttr("message", "not offered")
			case failure != nil && failed < 0:
				of.RemoveChild(test) // it ended only because the run did
			case failure != nil:
				test.Child = []etree.Token{failure} // without the steps that it skipped
				failure.SetText(fmt.Sprintf("%s\nalone: mrtq accept --tags '%s'", placeOf(features, title, name), strings.Join(idsOf(s.ran[failed].tags), " && ")))
			}
		}
	}
	if why != nil {
		of := root.CreateElement("testsuite")
		of.CreateAttr("name", "mrtq accept")
		test := of.CreateElement("testcase")
		test.CreateAttr("name", "the run")
		test.CreateElement("error").CreateAttr("message", why.Error())
	}
	doc.Indent(2)
	_, err := doc.WriteTo(w)
	return err
}

// example is what godog adds to the name of an outline's example.
var example = regexp.MustCompile(` #\d+$`)

// placeOf is a scenario's file and line, as far as the name tells.
func placeOf(features []godog.Feature, title, name string) string {
	for _, f := range features {
		if !strings.Contains(string(f.Contents), "Feature: "+title+"\n") {
			continue
		}
		for i, line := range strings.Split(string(f.Contents), "\n") {
			_, says, found := strings.Cut(strings.TrimSpace(line), ": ")
			if found && strings.HasPrefix(strings.TrimSpace(line), "Scenario") && saysName(says, name) {
				_, file, _ := strings.Cut(f.Name, "/") // the dialect's, and a line of which is its tag
				return fmt.Sprintf("%s:%d", file, i)
			}
		}
	}
	return title
}

var placeholder = regexp.MustCompile(`<[^>]+>`)

// saysName reports whether a scenario's title, which may have placeholders, gives a name.
func saysName(title, name string) bool {
	parts := placeholder.Split(title, -1)
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(name)
}
