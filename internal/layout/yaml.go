package layout

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed map.schema.json
var schemaText []byte

// mapSchema is what a map's YAML must look like.
var mapSchema = func() *jsonschema.Schema {
	s, err := compileSchema("map.schema.json", schemaText)
	if err != nil {
		panic(err) // it is embedded
	}
	return s
}()

func compileSchema(name string, text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// shapeError finds the innermost place where a value differs from its schema, and says in
// one line what differs. The place is nil if err does not name one.
func shapeError(err error) (at []string, says string) {
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return nil, err.Error()
	}
	for len(verr.Causes) > 0 {
		verr = verr.Causes[0]
	}
	at, says = verr.InstanceLocation, verr.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	if len(at) > 0 {
		says = strings.Join(at, ".") + ": " + says
	}
	return at, says
}

// The contents of a map's YAML.
type (
	yamlMap struct {
		Map, Title, Says, JSON string
		Document               Document
		Dialects, Roots        []string
		Types                  []row[Type]
		Nodes                  []row[Node]
		Relations              []row[Relation]
		Rules                  []row[Rule]
		Groups                 []yamlGroup
	}
	yamlGroup struct {
		At        []groupPlace
		Nodes     []row[Node]
		Relations []row[Relation]
	}
	// groupPlace is one place at which a group's rows are. It is zero for rows in no
	// group.
	groupPlace struct {
		ID, Path, Says string
		Line           int
	}
)

// row is a row of a map, with its line in the file, and the dialects that it is for; none for all.
type row[T any] struct {
	is       T
	line     int
	dialects []string
}

func (r *row[T]) UnmarshalYAML(n *yaml.Node) error {
	var only struct{ Dialects []string }
	err := errors.Join(n.Decode(&only), n.Decode(&r.is))
	r.line, r.dialects = n.Line, only.Dialects
	return err
}

func (l *loader) parse(text []byte) (y yamlMap) {
	readable := func(err error, what string) {
		if err != nil {
			l.bad(lineIn(err), "%s%s", what, withoutLine(err))
		}
	}
	var doc yaml.Node
	readable(yaml.Unmarshal(text, &doc), "this is not YAML: ")
	if len(doc.Content) == 0 {
		l.bad(1, "the schema is empty")
	}
	root := doc.Content[0]
	var v any
	readable(root.Decode(&v), "")
	if fields, ok := v.(map[string]any); !ok || fields["map"] == nil {
		l.bad(root.Line, "this is not the schema of a layout: it does not have the field map, the schema's name")
	}
	if err := mapSchema.Validate(v); err != nil {
		at, says := shapeError(err)
		l.bad(lineAt(root, at), "%s", says)
	}
	readable(root.Decode(&y), "")
	return y
}

func lineAt(n *yaml.Node, location []string) int {
	for _, step := range location {
		var next *yaml.Node
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step {
					next = n.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
				next = n.Content[i]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return n.Line
}

// lineIn is the line that an error of the YAML library names, or 1.
func lineIn(err error) int {
	_, rest, _ := strings.Cut(err.Error(), "line ")
	line := 1
	fmt.Sscanf(rest, "%d", &line)
	return line
}

func withoutLine(err error) string {
	says := strings.TrimPrefix(err.Error(), "yaml: ")
	return strings.TrimPrefix(says, fmt.Sprintf("line %d: ", lineIn(err)))
}
