package main

import "github.com/spf13/pflag"

// stdoutName means stdout instead of a file. A file with this name is ./-.
const stdoutName = "-"

// outFlag adds --out to a command that writes its data to stdout if --out is not given.
// --out - means stdout, too. For all other flags, [app.checkFiles] refuses -.
func outFlag(f *pflag.FlagSet, p *string, usage string) {
	f.Var((*outFile)(p), "out", usage)
}

// outFile is the value of --out: "" is stdout.
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
