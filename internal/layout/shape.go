package layout

import (
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// shapeError says in one line where a value differs from its schema.
func shapeError(err error) string {
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return err.Error()
	}
	for len(verr.Causes) > 0 {
		verr = verr.Causes[0]
	}
	said := verr.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	if len(verr.InstanceLocation) == 0 {
		return said
	}
	return strings.Join(verr.InstanceLocation, ".") + ": " + said
}

// shape describes what the znode's value should be.
func (n *Node) shape() string {
	const most = 160
	if len(n.SchemaText) > most {
		return "JSON as the map's schema says: " + n.SchemaText[:most] + "…"
	}
	return "JSON as the map's schema says: " + n.SchemaText
}
