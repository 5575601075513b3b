package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// PlainJSON returns an error of package json without the names of Go's types and packages. It returns
// other errors as they are.
func PlainJSON(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("unexpected end of JSON input")
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("a JSON %s does not fit here", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%s: a JSON %s does not fit here", kind.Field, kind.Value)
	}
	if plain, ok := strings.CutPrefix(err.Error(), "json: "); ok { // the package has no type for it
		return errors.New(plain)
	}
	return err
}
