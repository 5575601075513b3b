package sides

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"mrtq/internal/zkconn"
)

// Place is what an operator named. Exactly one of File and Server is set.
type Place struct {
	Text   string         // as it was given
	File   string         // the path of file:…
	Server zkconn.Address // of a server; it has no Servers otherwise
}

// Parse reads what the package comment lists. The error says what is wrong with text, without
// repeating it.
func Parse(text string) (Place, error) {
	p := Place{Text: text}
	if path, ok := strings.CutPrefix(text, "file:"); ok {
		if path == "" {
			return p, errors.New("it names no file")
		}
		p.File = path
		return p, nil
	}
	if err := mistaken(text); err != nil {
		return p, err
	}
	var err error
	p.Server, err = zkconn.ParseAddress(text)
	return p, err
}

// mistaken returns an error for what is surely not meant as a server's address.
func mistaken(text string) error {
	if scheme, _, _ := strings.Cut(text, ":"); scheme == "embedded" {
		return errors.New("mrtq reads servers and dumps (file:…) only")
	}
	switch info, err := os.Stat(text); {
	case err == nil && info.Mode().IsRegular():
		return fmt.Errorf("this is a file: write file:%s", text)
	case err == nil && info.IsDir():
		return errors.New("this is a folder: to read a server's data directory, start a server on a copy of it (docs/commands.md, \"A data directory\")")
	}
	if strings.HasSuffix(text, ".ndjson") || isGzip(text) {
		return fmt.Errorf("this is not a server's address, and there is no such file; write a dump as file:%s", text)
	}
	return nil
}

func isGzip(path string) bool { return strings.HasSuffix(path, ".gz") }
