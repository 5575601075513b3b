package sides

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"mrtq/internal/zkconn"
	"mrtq/internal/zkdata"
)

// Place is what an operator named. Exactly one of File, Data and Server is set.
type Place struct {
	Text   string         // as it was given
	File   string         // the path of file:…
	Data   *zkdata.Place  // of snapshot:…
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
	if dirs, ok := strings.CutPrefix(text, "snapshot:"); ok {
		place, err := zkdata.ParsePlace(dirs)
		p.Data = &place
		return p, err
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
		return errors.New("mrtq reads servers, dumps (file:…) and data directories (snapshot:…) only")
	}
	switch info, err := os.Stat(text); {
	case err == nil && info.Mode().IsRegular():
		return fmt.Errorf("this is a file: write file:%s", text)
	case err == nil && info.IsDir():
		return fmt.Errorf("this is a folder: if it is a server's data directory, write snapshot:%s", text)
	}
	if strings.HasSuffix(text, ".ndjson") || isGzip(text) {
		return fmt.Errorf("this is not a server's address, and there is no such file; write a dump as file:%s", text)
	}
	return nil
}

// ParseLocal reads the name of something to load, without a scheme: the path of a dump, or a data
// directory as DIR[,LOGDIR][#/chroot].
func ParseLocal(text string) (Place, error) {
	if info, err := os.Stat(text); err == nil && !info.IsDir() {
		return Place{Text: text, File: text}, nil
	}
	place, err := zkdata.ParsePlace(text)
	if err != nil {
		return Place{Text: text}, err
	}
	if info, err := os.Stat(place.Dir); err == nil && info.IsDir() {
		return Place{Text: text, Data: &place}, nil
	}
	return Place{Text: text, File: text}, nil // which does not exist; opening it says so
}

// isGzip reports whether a file is packed, by its name.
func isGzip(path string) bool { return strings.HasSuffix(path, ".gz") }
