package layout

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
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

// The contents of a map's YAML. A row is what the map keeps of it, and what only
// loading needs.
type (
	yamlMap struct {
		Map, Title, Says, JSON         string
		Document                       Document
		Dialects, Roots                []string
		Types, Nodes, Relations, Rules []yaml.Node
		Groups                         []yamlGroup
	}
	yamlType struct {
		Type     `yaml:",inline"`
		Dialects []string
	}
	yamlNode struct {
		Node   `yaml:",inline"`
		Codec  string
		Schema any
		Oldest string
		Most   *struct {
			Children int
			Rule     string
		}
		Severity map[string]Severity
		Dialects []string
	}
	yamlRelation struct {
		Relation                                   `yaml:",inline"`
		Of, Rule, Field, Refers, To, Same, Younger string
		ReferencedBy                               []string `yaml:"referenced-by"`
		Dialects                                   []string
	}
	yamlGroup struct {
		At               []groupPlace
		Nodes, Relations []yaml.Node
	}
	// groupPlace is one place at which a group's rows are. It is zero for rows in no
	// group.
	groupPlace struct {
		ID, Path, Says string
		Line           int
	}
	yamlRule struct {
		Rule     `yaml:",inline"`
		Section  string
		Line     int
		Dialects []string
	}
)

// shape checks the YAML against the schema of maps, and says which line is
// wrong.
func (l *loader) shape(root *yaml.Node) error {
	var v any
	if err := root.Decode(&v); err != nil {
		return l.bad(lineIn(err), "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if fields, ok := v.(map[string]any); !ok || fields["map"] == nil {
		return l.bad(root.Line, "this is not the map of a layout: it does not have the field map, the map's name")
	}
	doc, err := asJSON(v)
	if err != nil {
		return l.bad(root.Line, "%v", err)
	}
	err = mapSchema.Validate(doc)
	if err == nil {
		return nil
	}
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return l.bad(root.Line, "%v", err)
	}
	deepest := verr
	for len(deepest.Causes) > 0 {
		deepest = deepest.Causes[0]
	}
	return l.bad(lineAt(root, deepest.InstanceLocation), "%s", shapeError(err))
}

// asJSON converts a YAML value to the form that the schema's library needs.
func asJSON(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// lineAt is the line of the value at a JSON pointer.
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
	_, rest, found := strings.Cut(err.Error(), "line ")
	if !found {
		return 1
	}
	n, _ := strconv.Atoi(rest[:strings.IndexFunc(rest+" ", func(r rune) bool { return r < '0' || r > '9' })])
	return max(n, 1)
}
