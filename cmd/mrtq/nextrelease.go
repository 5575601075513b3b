package main

import (
	"fmt"

	"mrtq/migrate"
)

// What release says to do next, when it lifts nothing and when it checked nothing.

// needsProof asks for the source, against which the target is verified.
func (c *releaseCmd) needsProof(a *app, target endpoint, holds *migrate.Holds, proof []migrate.Hold) error {
	words := []string{target.text, "SOURCE"}
	if r, ok := holds.Newest(); ok {
		words[1] = r.Source
		if c.checked.quarantine != "" || r.Policies.Undecodable == migrate.Quarantine {
			words = append(words, quarantineWords(c.checked.quarantine, target)...)
		}
	}
	return usageError("%s cover a migration (%s). To verify the target first, add SOURCE. To release without verifying, add --force. Nothing was released; next: %s",
		count(len(proof), "hold", "holds"), holdNames(proof), a.command("release", append(words, c.named()...)...))
}

// needsQuarantine asks for the quarantine file. The rest of the target is verified.
func (c *releaseCmd) needsQuarantine(a *app, target endpoint, source string, records int) error {
	words := append([]string{target.text, source}, c.named()...)
	kept := quarantineWords("", target)
	in := count(records, "record is", "records are") + " in quarantine"
	a.conclude(bad, "Nothing was released. The target is what the source says it should be, but %s, and no --quarantine says which file keeps their bytes. mrtq migrate wrote %s in the folder where it ran, unless you gave it another --quarantine. To release without verifying, give --force instead of SOURCE. Next: %s",
		in, quarantineFile(target), a.command("release", append(words, kept...)...))
	return checkError(fmt.Errorf("release: %s, and no --quarantine was given. Nothing was released", in))
}

// named are the flags that choose holds, as they were given.
func (c *releaseCmd) named() (words []string) {
	for _, q := range c.only {
		words = append(words, "--only", q)
	}
	for _, name := range c.collections {
		words = append(words, "--collection", name)
	}
	return words
}

// notChecked says what --force left unchecked and how to check it now, "" if nothing
// was migrated.
func (c *releaseCmd) notChecked(a *app, target endpoint, holds *migrate.Holds) string {
	r, ok := holds.Newest()
	if !ok || r.State == migrate.RunRolledBack {
		return ""
	}
	what := "the target"
	if r.Policies.Undecodable == migrate.Quarantine {
		what += " and the quarantine file"
	}
	return fmt.Sprintf("To check %s now: %s", what, a.command("verify", a.verifyWords(r.Source, target, r.Policies)...))
}
