package accept

import (
	"encoding/json"

	"github.com/go-zookeeper/zk"
)

// observer is the second connection. It writes what a scenario starts from, and
// reads the result. It does not use the code under test.
type observer struct {
	conn *zk.Conn
	acl  []zk.ACL // of the znodes that it creates
}

// object is a JSON object that a znode holds.
type object map[string]any

// parse returns the object in data, or nil if there is none.
func parse(data []byte) object {
	var o object
	if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &o) != nil {
		return nil
	}
	return o
}

// bytes returns the object as JSON.
func (o object) bytes() []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings, numbers and lists of strings can always be written
	}
	return b
}
