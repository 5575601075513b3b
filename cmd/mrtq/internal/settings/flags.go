package settings

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

type choiceFlag struct {
	value   *string
	choices []string
}

func (c *choiceFlag) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c *choiceFlag) Type() string { return strings.Join(c.choices, "|") }

func (c *choiceFlag) Set(s string) error {
	if s == "" {
		return ErrEmpty
	}
	if !slices.Contains(c.choices, s) {
		return fmt.Errorf("expected one of %s", strings.Join(c.choices, ", "))
	}
	*c.value = s
	return nil
}

// Choices returns the values of a flag that [Choice] added; nil for any other flag.
func Choices(f *pflag.Flag) []string {
	if c, ok := f.Value.(*choiceFlag); ok {
		return c.choices
	}
	return nil
}

// Choice adds a flag with a fixed set of values. The first one is the default.
func Choice(f *pflag.FlagSet, p *string, name, short, usage string, choices ...string) {
	*p = choices[0]
	f.VarP(&choiceFlag{p, choices}, name, short, usage)
	Offer(f, name, choices...)
}

// goErrors are what Go's libraries, and a choice that needs a reason, say of values, and what people expect instead.
var goErrors = []struct {
	says     *regexp.Regexp
	expected string
}{
	{regexp.MustCompile(`" flag: expected one of 99, 89, 79$`), "expected 99, 89 or 79: the daemon Estimate may add 10 twice, and loses a job above 99"},
	{regexp.MustCompile(`" flag: strconv\.ParseFloat: .*`), "expected a number, such as 0.01"},
	{regexp.MustCompile(`" flag: strconv\.ParseBool: .*`), "expected true or false"},
	{regexp.MustCompile(`" flag: strconv\.\w+: .*`), "expected a whole number"},
	{regexp.MustCompile(`" flag: time: .*`), "expected a duration, such as 30s or 2m"},
}

// Refusal returns the error of a flag that does not take a value, in words without Go's functions.
func Refusal(err error) error {
	for _, e := range goErrors {
		if e.says.MatchString(err.Error()) {
			return errors.New(e.says.ReplaceAllString(err.Error(), `" flag: `+e.expected))
		}
	}
	return err
}
