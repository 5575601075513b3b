package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// A value that is empty, often because a shell variable is not set, could mean "all of them". So every flag and
// argument of every command refuses it, alone, repeated, and in a list. Only a flag whose help says
// what "" means takes it.
func TestEmptyValues(t *testing.T) {
	t.Parallel()
	none := []string{}
	for _, c := range newRoot().Commands() {
		if !c.Runnable() || c.Name() == "help" {
			continue
		}
		check := func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				return
			}
			given := [][]string{{"--" + f.Name, ""}, {"--" + f.Name + "="}}
			if _, list := f.Value.(pflag.SliceValue); list {
				given = append(given, []string{"--" + f.Name, "ingest", "--" + f.Name, ""})
			}
			if f.Value.Type() == "stringSlice" {
				given = append(given, []string{"--" + f.Name, "ingest,"}, []string{"--" + f.Name, ",ingest"})
			}
			for _, flags := range given {
				code, says := runInProcess(append([]string{c.Name()}, flags...)...)
				refused := code == 2 && strings.Contains(says, "--"+f.Name) && strings.Contains(says, "it is empty, perhaps because a shell variable is not set")
				if strings.Contains(f.Usage, `"" means none`) {
					none = append(none, f.Name)
					if refused {
						t.Errorf("%s %q: %s", c.Name(), flags, says)
					}
				} else if !refused {
					t.Errorf("%s %q: exit code %d, %s", c.Name(), flags, code, says)
				}
			}
		}
		c.LocalFlags().VisitAll(check)
		c.InheritedFlags().VisitAll(check)
	}
	slices.Sort(none)
	if got := strings.Join(slices.Compact(none), " "); got != "access-large access-small ingest inventory" {
		t.Errorf(`"" means none for %s`, got)
	}
}

// No argument may be empty either. What follows zk's COMMAND belongs to that command.
func TestEmptyArguments(t *testing.T) {
	t.Parallel()
	for _, c := range newRoot().Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			continue
		}
		takes := 0
		for n := 1; n <= 3; n++ {
			for empty := range n {
				args := append([]string{c.Name()}, slices.Repeat([]string{"localhost:1"}, n)...)
				args[1+empty] = ""
				code, says := runInProcess(args...)
				if strings.Contains(says, ": it is empty, perhaps because a shell variable is not set") {
					takes++
				} else if c.Name() == "zk" && empty > 0 || c.Name() == "help" || c.Name() == "completion" {
					continue
				} else if code != 2 || !regexp.MustCompile("is one argument too many|is missing|unknown command").MatchString(says) {
					t.Errorf("%q: exit code %d, %s", args, code, says)
				}
			}
		}
		if takesNone := c.Hidden || slices.Contains([]string{"help", "completion", "report", "version"}, c.Name()); takes == 0 && !takesNone {
			t.Errorf("%s: nothing says that its argument is empty", c.Name())
		}
	}
}

func runInProcess(args ...string) (code int, says string) {
	var stderr bytes.Buffer
	code = run(args, &bytes.Buffer{}, &stderr)
	return code, stderr.String()
}
