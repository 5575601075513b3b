package runner

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Case is the result of a scenario.
type Case struct {
	Feature, Name string
	Tags          []string
	Failed        error  // nil if it has not
	Lacks         string // what the code under test has nothing for: then it is not offered; "" for nothing
}

type xmlReason struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type xmlCase struct {
	XMLName xml.Name   `xml:"testcase"`
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Failure *xmlReason `xml:"failure"`
	Skipped *xmlReason `xml:"skipped"`
	Error   *xmlReason `xml:"error"`
}

type xmlSuite struct {
	Name     string    `xml:"name,attr"`
	Tests    int       `xml:"tests,attr"`
	Failures int       `xml:"failures,attr"`
	Skipped  int       `xml:"skipped,attr"`
	Cases    []xmlCase `xml:"testcase"`
}

type xmlSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	Suite   xmlSuite `xml:"testsuite"`
}

// JUnit writes results as JUnit's XML. A failure has the flags that run its scenario alone. why, unless it is nil, is the reason
// why the run has ended early.
func JUnit(w io.Writer, cases []Case, why error) error {
	all := xmlSuite{Name: "mrtq accept", Tests: len(cases)}
	for _, c := range cases {
		one := xmlCase{Class: c.Feature, Name: c.Name}
		switch {
		case c.Lacks != "":
			all.Skipped++
			one.Skipped = &xmlReason{Message: "not offered"}
		case c.Failed != nil:
			all.Failures++
			ids := slices.DeleteFunc(slices.Clone(c.Tags), func(tag string) bool { return strings.HasPrefix(tag, "@in-") })
			one.Failure = &xmlReason{c.Failed.Error(), fmt.Sprintf("alone: mrtq accept --tags '%s'", strings.Join(ids, " && "))}
		}
		all.Cases = append(all.Cases, one)
	}
	if why != nil {
		all.Cases = append(all.Cases, xmlCase{Class: "mrtq accept", Name: "the run", Error: &xmlReason{Message: why.Error()}})
	}
	text, err := xml.MarshalIndent(xmlSuites{Name: "mrtq accept", Suite: all}, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}
