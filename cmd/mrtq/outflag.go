package main

import "github.com/spf13/pflag"

// stdoutName is what a person writes for stdout in place of a file's name. A file
// that has this name is ./-.
const stdoutName = "-"

// outFlag adds --out to a command whose data goes to stdout unless a file is
// named: - is stdout as well. Everywhere else [app.apart] refuses it.
func outFlag(f *pflag.FlagSet, p *string, usage string) {
	f.Var((*outFile)(p), "out", usage)
}

// outFile is the value of such a flag: "" is stdout.
type outFile string

func (o *outFile) String() string { return string(*o) }
func (o *outFile) Type() string   { return "string" }

func (o *outFile) Set(path string) error {
	if path == stdoutName {
		path = ""
	}
	*o = outFile(path)
	return nil
}
