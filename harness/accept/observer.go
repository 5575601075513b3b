package accept

import (
	"encoding/json"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/zkconn"
)

// observer writes what a scenario starts from, and reads the result on a second connection. It reads with another
// client than the one that the code under test may use, and does not use that code.
type observer struct {
	conn   *zk.Conn // writes
	reader *zkconn.Reader
	acl    []zk.ACL // of the znodes that it creates
}

type object map[string]any

func parse(data []byte) object {
	var o object
	if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &o) != nil {
		return nil
	}
	return o
}

// absent is in place of the value of a field that is not there.
type absent struct{}

func (o object) get(key string) any {
	if value, ok := o[key]; ok {
		return value
	}
	return absent{}
}

func (o object) set(key string, value any) {
	o[key] = value
	if value == any(absent{}) {
		delete(o, key)
	}
}

func encode(v any) []byte {
	if text, ok := v.(string); ok {
		return []byte(text)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and lists of strings can always be written
	}
	return b
}
