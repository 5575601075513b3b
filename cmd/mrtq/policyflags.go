package main

import (
	"github.com/spf13/pflag"

	"mrtq/migrate"
)

// policyUsage says what each policy decides.
var policyUsage = map[string]string{
	"consumed":    "what to do with records that a legacy worker may be working on",
	"completed":   "what to do with completed records",
	"deleted":     "what to do with deleted records",
	"undecodable": "what to do with records that can't be decoded",

	"inventory-records": "in dialect mrt-zk, what to do with unfinished inventory records, which no deployed service can finish",
	"unserviceable":     "in dialect mrt-zk, what to do with other records that no deployed service could work on",
}

// policyFlags adds a flag for each policy. The first choice is the safe one.
func policyFlags(f *pflag.FlagSet, p *migrate.Policies) {
	for _, c := range migrate.PolicyChoices {
		choice(f, c.Value(p), c.Name, "", policyUsage[c.Name], c.Values...)
	}
}
