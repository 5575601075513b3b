package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/settings"
)

// goSpeak are words that only a programmer says.
var goSpeak = regexp.MustCompile(`(?i:strconv|pars(e|ing)|syntax|invalid|argument|duration|%!|<nil>)|\b(u?int(8|16|32|64)?|float64|stringArray|stringSlice|bool|string)\b|\b[a-z]+\.[A-Z]`)

// badValues are values that this flag can't have.
func badValues(f *pflag.Flag) []string {
	switch f.Value.Type() {
	case "int", "int64", "uint", "uint64":
		return []string{"x", "1.5", "", "99999999999999999999"}
	case "duration":
		return []string{"soon", "5", "", "1y"}
	case "bool":
		return []string{"maybe", "2"}
	case "string", "file", "stringArray", "stringSlice":
		return nil // any text; what is wrong with it, the command says
	}
	return []string{"nonsense", ""} // a choice
}

// If a flag, a variable or the settings file has a wrong value, the message says what was
// found and what is wanted, in words that an operator knows.
func TestBadValuesAreNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	message := func(args ...string) string {
		var out, errs bytes.Buffer
		if code := run(args, &out, &errs); code != exit.Usage {
			t.Errorf("%s: exit code %d\n%s", strings.Join(args, " "), code, errs.String())
		}
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return lines[len(lines)-1]
	}
	check := func(how, flag, value, got string) {
		if bad := goSpeak.FindString(strings.ReplaceAll(got, "--"+flag, "")); bad != "" {
			t.Errorf("%s: %q says %q", how, got, bad)
		}
		if !strings.Contains(got, flag) || value != "" && !strings.Contains(got, value) || !strings.Contains(got, "expected ") {
			t.Errorf("%s: %q does not say what was found and what is wanted", how, got)
		}
	}
	tried, settable := 0, settings.FlagNames(newRoot())
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			each(sub)
		}
		if !c.Runnable() || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		words := strings.Fields(c.CommandPath())[1:]
		whole := slices.Clone(words) // with as many arguments as the command wants
		for c.ValidateArgs(whole[len(words):]) != nil && len(whole) < len(words)+4 {
			whole = append(whole, "localhost:1")
		}
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.AddFlagSet(c.Flags())
		f.AddFlagSet(c.InheritedFlags())
		f.VisitAll(func(f *pflag.Flag) {
			for _, value := range badValues(f) {
				tried++
				args := append(append([]string{}, words...), "--"+f.Name+"="+value)
				check(strings.Join(args, " "), f.Name, value, message(args...))
				if f.Name == "config" || f.Name == "help" || f.Name == "version" || slices.Contains(settings.FlagOnly, f.Name) || !settable[f.Name] {
					continue
				}
				t.Setenv(settings.Variable(f.Name), value)
				check("$"+settings.Variable(f.Name)+"="+value, settings.Variable(f.Name), value, message(whole...))
				os.Unsetenv(settings.Variable(f.Name))
				file := filepath.Join(t.TempDir(), "settings.yaml")
				if err := os.WriteFile(file, []byte(f.Name+": \""+value+"\"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				check(f.Name+": "+value, f.Name, value, message(append(slices.Clone(whole), "--config", file)...))
			}
		})
	}
	each(newRoot())
	if tried < 100 {
		t.Errorf("only %d values were tried", tried)
	}
}
