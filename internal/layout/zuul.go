package layout

import _ "embed"

//go:embed maps/zuul.yaml
var zuulText []byte

// Zuul is the map of Zuul's tree.
func Zuul() (*Map, error) { return Load("zuul.yaml", zuulText, "") }
