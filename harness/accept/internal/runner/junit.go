package runner

import (
	"encoding/xml"
	"fmt"
	"io"
)

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
	Errors   int       `xml:"errors,attr"`
	Skipped  int       `xml:"skipped,attr"`
	Cases    []xmlCase `xml:"testcase"`
}

type xmlSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	Suite   xmlSuite `xml:"testsuite"`
}

// JUnit writes results as JUnit's XML. alone returns the command that runs a scenario alone; nil means that none is named. why, unless it is nil, is the reason
// why the run has ended early.
func JUnit(w io.Writer, cases []*Case, alone func(*Case) string, why error) error {
	all := xmlSuite{Name: "mrtq accept"}
	for _, c := range cases {
		one := xmlCase{Class: c.Class, Name: c.Title}
		switch {
		case c.Lacks != "":
			all.Skipped++
			one.Skipped = &xmlReason{Message: "not offered"}
		case c.Broken:
			all.Errors++
			one.Error = &xmlReason{Message: c.At() + ": " + c.Failed.Error()}
		case c.Failed != nil:
			all.Failures++
			one.Failure = &xmlReason{Message: c.At() + ": " + c.Failed.Error()}
			if alone != nil {
				one.Failure.Text = "alone: " + alone(c)
			}
		}
		all.Cases = append(all.Cases, one)
	}
	if why != nil {
		all.Errors++
		all.Cases = append(all.Cases, xmlCase{Class: "mrtq accept", Name: "the run", Error: &xmlReason{Message: why.Error()}})
	}
	all.Tests = len(all.Cases)
	text, err := xml.MarshalIndent(xmlSuites{Name: "mrtq accept", Suite: all}, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}
