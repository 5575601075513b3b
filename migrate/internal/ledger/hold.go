package ledger

import (
	"encoding/json"
	"slices"
	"time"
)

// Owner is one owner of a hold: a run, a person, or a client that did not say who it is.
type Owner struct {
	By  string    `json:"by"` // a run's id, who ran mrtq hold, or [Unknown]
	At  time.Time `json:"at,omitzero"`
	Why string    `json:"why,omitempty"`
}

// Unknown is the owner of a hold that mrtq did not set, such as one that the admin tool
// set.
const Unknown = "unknown"

// Owners are the owners of a hold. The queue is held while the hold's znode exists. The
// services don't read its data; newqueue names the owners in an error.
type Owners []Owner

// EncodeOwners returns the data of a hold's znode.
func EncodeOwners(owners Owners) []byte {
	b, err := json.Marshal(struct {
		Owners Owners `json:"owners"`
	}{owners})
	if err != nil {
		panic("ledger: owners are always JSON: " + err.Error())
	}
	return b
}

// ParseOwners reads the data of a hold's znode. A hold that mrtq did not write has one
// owner, [Unknown].
func ParseOwners(data []byte) Owners {
	var hold struct {
		Owners Owners `json:"owners"`
	}
	if json.Unmarshal(data, &hold) != nil || len(hold.Owners) == 0 || slices.ContainsFunc(hold.Owners, func(o Owner) bool { return o.By == "" }) {
		return Owners{{By: Unknown}}
	}
	return hold.Owners
}

// Has reports whether by is one of the owners.
func (o Owners) Has(by string) bool {
	return slices.ContainsFunc(o, func(owner Owner) bool { return owner.By == by })
}

// With returns the owners and one more. An owner that is there already is replaced.
func (o Owners) With(owner Owner) Owners {
	return append(o.Without(owner.By), owner)
}

// Without returns the owners but these.
func (o Owners) Without(by ...string) Owners {
	return slices.DeleteFunc(slices.Clone(o), func(owner Owner) bool { return slices.Contains(by, owner.By) })
}
