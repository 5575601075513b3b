package ledger

import (
	"encoding/json"
	"slices"

	"mrtq/migrate/migration"
)

// EncodeOwners returns the data of a hold's znode.
func EncodeOwners(owners migration.HoldOwners) []byte {
	b, err := json.Marshal(struct {
		Owners migration.HoldOwners `json:"owners"`
	}{owners})
	if err != nil {
		panic("ledger: owners are always JSON: " + err.Error())
	}
	return b
}

// ParseOwners reads the data of a hold's znode. A hold that mrtq did not write has one
// owner, [migration.UnknownOwner].
func ParseOwners(data []byte) migration.HoldOwners {
	var hold struct {
		Owners migration.HoldOwners `json:"owners"`
	}
	if json.Unmarshal(data, &hold) != nil || len(hold.Owners) == 0 || slices.ContainsFunc(hold.Owners, func(o migration.HoldOwner) bool { return o.By == "" }) {
		return migration.HoldOwners{{By: migration.UnknownOwner}}
	}
	return hold.Owners
}
