package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// This file has what release says to do next.

// needsProof asks for SOURCE, which release needs to verify the target.
func (c *releaseCmd) needsProof(a *app, target endpoint, holds *migrate.Holds, proof []migrate.Hold) error {
	source, flags := "SOURCE", c.chosen()
	if r, ok := holds.Newest(); ok {
		source = r.Source
		if c.checked.quarantine != "" || r.Policies.Undecodable == migrate.Quarantine {
			flags = append(flags, quarantineFlag(c.checked.quarantine, target))
		}
	}
	return usageError("%s a migration (%s). To verify the target first, add SOURCE. To release without verifying, add --force. Nothing was released; next: %s",
		count(len(proof), "hold covers", "holds cover"), holdNames(proof), a.command("release", []string{target.text, source}, flags...))
}

// needsRebuild refuses to lift holds, because the records that say what they cover are
// damaged.
func needsRebuild(a *app, target endpoint) error {
	return checkError(fmt.Errorf("release: the migration's own records are damaged, and only they show whether its run is done. Rebuild them first: %s. To release without verifying, add --force. Nothing was released",
		a.command("rebuild", []string{target.text})))
}

// needsQuarantine asks for the quarantine file. Everything else was verified.
func (c *releaseCmd) needsQuarantine(a *app, target endpoint, source string, records int) error {
	flags := append(c.chosen(), quarantineFlag("", target))
	in := count(records, "record is", "records are") + " in quarantine"
	a.conclude(bad, "Nothing was released. The target is what the source says it should be, but %s, and no --quarantine says which file keeps their bytes. mrtq migrate wrote %s in the folder where it ran, unless you gave it another --quarantine. To release without verifying, give --force instead of SOURCE. Next: %s",
		in, quarantineFile(target), a.command("release", []string{target.text, source}, flags...))
	return checkError(fmt.Errorf("release: %s, and no --quarantine was given. Nothing was released", in))
}

// chosen are the flags that choose holds, as they were given.
func (c *releaseCmd) chosen() []flagWords {
	collections := flagWords{name: "collection"}
	for _, name := range c.collections {
		collections.words = append(collections.words, "--collection", listWord(name))
	}
	return []flagWords{newFlag("only", c.only...), collections}
}

// notChecked says what --force left unchecked, and how to check it now. It is "" if
// nothing was migrated.
func (c *releaseCmd) notChecked(a *app, target endpoint, holds *migrate.Holds) string {
	r, ok := holds.Newest()
	if !ok || r.State == migrate.RunRolledBack {
		return ""
	}
	what := "the target"
	if r.Policies.Undecodable == migrate.Quarantine {
		what += " and the quarantine file"
	}
	return fmt.Sprintf("To check %s now: %s", what, a.command("verify", []string{r.Source, target.text}, undecodableKept(r.Policies, target)...))
}

// next is what to do after a release: lift the holds that are still set, or check what
// --force left unchecked. source holds SOURCE if it was given.
func (c *releaseCmd) next(a *app, target endpoint, source []string, holds *migrate.Holds, out released) string {
	text := stillHeld(out)
	if out.Unfinished != nil {
		return text
	}
	if proof, _ := pick(out.Held, func(h migrate.Hold) bool { return h.CoversRun }); len(proof) > 0 {
		args, flags := append([]string{target.text}, source...), choosing(proof)
		if r, ok := holds.Newest(); ok {
			if len(source) == 0 {
				args = append(args, r.Source)
			}
			if c.checked.quarantine != "" || r.Policies.Undecodable == migrate.Quarantine {
				flags = append(flags, quarantineFlag(c.checked.quarantine, target))
			}
		}
		return fmt.Sprintf("%s To verify and lift %s: %s", text, holdNames(proof), a.command("release", args, flags...))
	}
	if c.force && !out.Verified && len(out.Released) > 0 {
		if check := c.notChecked(a, target, holds); check != "" {
			return strings.TrimSpace(text + " " + check)
		}
	}
	if len(out.Held) == 0 {
		return ""
	}
	return fmt.Sprintf("%s To lift %s, when no longer needed: %s", text, holdNames(out.Held), a.command("release", []string{target.text}, choosing(out.Held)...))
}

// stillHeld names the holds that are still set, and who set them. It is "" if there are
// none.
func stillHeld(out released) string {
	if len(out.Held) == 0 {
		return ""
	}
	var setters []string
	names := map[string][]string{}
	for _, h := range out.Held {
		by, name := setBy(h), znode.Name(h.Path)
		if znode.Parent(h.Path) != newqueue.QueueLocksPath {
			name = "collection " + name
		}
		if names[by] == nil {
			setters = append(setters, by)
		}
		names[by] = append(names[by], name)
	}
	var parts []string
	for _, by := range setters {
		parts = append(parts, strings.Join(names[by], ", ")+" by "+by)
	}
	text := "Still held: " + strings.Join(parts, "; ") + "."
	if halfHeld(out) {
		text += " But the large access worker takes small requests too, so this hold does not stop them."
	}
	return text
}

// halfHeld reports whether small access requests are still held, and large ones no longer
// are. The large access worker acquires both, and respects only the hold on large ones.
func halfHeld(out released) bool {
	on := func(holds []migrate.Hold, q newqueue.QueueHold) bool {
		return slices.ContainsFunc(holds, func(h migrate.Hold) bool { return h.Path == newqueue.QueueHoldPath(q) })
	}
	return on(out.Released, newqueue.HoldAccessLarge) && on(out.Held, newqueue.HoldAccessSmall)
}

// setBy says who set a hold. For a hold that no run set, it also says since when and why.
func setBy(h migrate.Hold) string {
	if migrate.IsRun(h.By) {
		return h.By
	}
	return heldBy(migrate.HoldStatus{By: cmp.Or(h.By, "others"), Since: h.Since, Why: h.Why})
}

// choosing are the flags that choose exactly these holds.
func choosing(holds []migrate.Hold) (flags []flagWords) {
	for _, h := range holds {
		flag := "collection"
		if znode.Parent(h.Path) == newqueue.QueueLocksPath {
			flag = "only"
		}
		flags = append(flags, newFlag(flag, listWord(znode.Name(h.Path))))
	}
	return flags
}
