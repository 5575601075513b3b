package migration

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Choices are the choices that only the operator can make
// (docs/md, "What only you can decide").
type Choices struct {
	Consumed    string `json:"consumed"`    // leave, held, pending or failed
	Failed      string `json:"failed"`      // failed, held or pending
	Completed   string `json:"completed"`   // migrate or skip
	Deleted     string `json:"deleted"`     // skip or migrate
	Undecodable string `json:"undecodable"` // block or quarantine
	// These are for the services' sake, most of them in dialect mrt-zk, which the deployed ones read:
	InventoryRecords string `json:"inventory_records"` // block or migrate
	Unserviceable    string `json:"unserviceable"`     // block or migrate
	MaxPriority      string `json:"max_priority"`      // 99, 89 or 79: see [Choices.Priority]
}

// The values of [Choices].
const (
	Block      = "block"      // refuse the whole migration
	Quarantine = "quarantine" // keep the bytes in a file and go on
	Migrate    = "migrate"
	Skip       = "skip"
	Leave      = "leave" // to the legacy workers
	AsHeld     = "held"
	AsPending  = "pending"
	AsFailed   = "failed"
)

// Choice is one choice with its allowed values. The default is first.
type Choice struct {
	Name   string
	Value  func(*Choices) *string // the field
	Values []string
}

// AllChoices are all choices. Callers must not change it.
var AllChoices = []Choice{
	{"consumed", func(c *Choices) *string { return &c.Consumed }, []string{Leave, AsHeld, AsPending, AsFailed}},
	{"failed", func(c *Choices) *string { return &c.Failed }, []string{AsFailed, AsHeld, AsPending}},
	{"completed", func(c *Choices) *string { return &c.Completed }, []string{Migrate, Skip}},
	{"deleted", func(c *Choices) *string { return &c.Deleted }, []string{Skip, Migrate}},
	{"undecodable", func(c *Choices) *string { return &c.Undecodable }, []string{Block, Quarantine}},
	{"inventory-records", func(c *Choices) *string { return &c.InventoryRecords }, []string{Block, Migrate}},
	{"unserviceable", func(c *Choices) *string { return &c.Unserviceable }, []string{Block, Migrate}},
	{"max-priority", func(c *Choices) *string { return &c.MaxPriority }, []string{"99", "89", "79"}},
}

// DefaultChoices returns the defaults, which are the safe ones.
func DefaultChoices() Choices {
	var c Choices
	for _, choice := range AllChoices {
		*choice.Value(&c) = choice.Values[0]
	}
	return c
}

// Validate returns an error if a choice has an unknown value. The error names the choice
// and lists its values.
func (c Choices) Validate() error {
	for _, choice := range AllChoices {
		if v := *choice.Value(&c); !slices.Contains(choice.Values, v) {
			return fmt.Errorf("%s: %q: expected one of %s", choice.Name, v, strings.Join(choice.Values, ", "))
		}
	}
	return nil
}

// Priority returns the priority of a record's job: that in the record's name, or the highest number that
// the choices allow. The deployed services add to it, and lose a job whose priority has three digits.
func (c Choices) Priority(r Record) int {
	most, _ := strconv.Atoi(c.MaxPriority) // see [AllChoices]
	return min(r.Legacy.Key.Priority, most)
}

// Or returns the choices with those of other in place of each that is "".
func (c Choices) Or(other Choices) Choices {
	for _, choice := range AllChoices {
		v := choice.Value(&c)
		*v = cmp.Or(*v, *choice.Value(&other))
	}
	return c
}

// Changes says which choices are different in now, and how; "" if none is.
func (c Choices) Changes(now Choices) string {
	var changes []string
	for _, choice := range AllChoices {
		if from, to := *choice.Value(&c), *choice.Value(&now); from != to {
			changes = append(changes, fmt.Sprintf("%s was %s and is now %s", choice.Name, from, to))
		}
	}
	return strings.Join(changes, ", ")
}

// Unblocked returns the choices with those of now in place of each [Block].
func (c Choices) Unblocked(now Choices) Choices {
	for _, choice := range AllChoices {
		if v := choice.Value(&c); *v == Block {
			*v = *choice.Value(&now)
		}
	}
	return c
}
