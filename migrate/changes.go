package migrate

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// Change is one choice or setting that differs from that of an earlier plan or run.
type Change struct {
	Setting string // its name: a policy, a kind of queue, locks, dialect, time, acl, packet, again or done
	Was, Is string
}

// ChangesText returns the changes as text, each with the old and the new value.
func ChangesText(changes []Change) string {
	var texts []string
	for _, c := range changes {
		texts = append(texts, fmt.Sprintf("%s %s → %s", c.Setting, valueOrNone(c.Was), valueOrNone(c.Is)))
	}
	return strings.Join(texts, ", ")
}

func valueOrNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// Changes returns the policies that differ in q.
func (p Policies) Changes(q Policies) []Change {
	var c changes
	c.policies(p, q)
	return c
}

// changes returns the policies, and the ACL of what a migration creates, that differ in a
// plan from this run's.
func (r Run) changes(p *Plan) []Change {
	var c changes
	c.policies(r.Policies, p.Policies)
	c.acl(r.ACL, p.Settings.ACL)
	return c
}

type changes []Change

func (c *changes) add(setting, was, is string) {
	if was != is {
		*c = append(*c, Change{setting, was, is})
	}
}

func (c *changes) list(setting string, was, is []string) {
	c.add(setting, strings.Join(was, " "), strings.Join(is, " "))
}

func (c *changes) policies(was, is Policies) {
	for _, choice := range PolicyChoices {
		c.add(choice.Name, *choice.Value(&was), *choice.Value(&is))
	}
}

func (c *changes) settings(was, is Settings) {
	for _, kind := range QueueKinds {
		c.list(string(kind), was.Queues.Nodes[kind], is.Queues.Nodes[kind])
	}
	c.list("locks", was.Queues.Locks, is.Queues.Locks)
	c.add("time", was.Time, is.Time)
	c.acl(was.ACL, is.ACL)
	c.add("packet", fmt.Sprint(was.Packet), fmt.Sprint(is.Packet))
	c.list("again", was.Again, is.Again)
	c.list("done", was.Done, is.Done)
}

func (c *changes) acl(was, is []znode.ACL) {
	if !slices.Equal(was, is) {
		*c = append(*c, Change{"acl", aclText(was), aclText(is)})
	}
}

// aclText names who may do what, without the digests of secrets.
func aclText(acl []znode.ACL) string {
	if znode.IsOpenACL(acl) {
		return "open"
	}
	var out []string
	for _, a := range acl {
		out = append(out, a.Public())
	}
	return strings.Join(out, ",")
}

// otherACL is the text of an ACL that is not the one that it was.
func otherACL(was, is []znode.ACL) string {
	if text := aclText(is); text != aclText(was) {
		return text
	}
	return aclText(is) + " with another password"
}
