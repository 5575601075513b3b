package main

import (
	"strings"

	"mrtq/internal/report"
	"mrtq/migrate"
)

// next returns the commands that a page can show as the next step. The page's verdict
// decides which one it shows. s is nil if no target was given.
func (c *reportCmd) next(a *app, s *migrate.Status, target, source endpoint, in *reportInput) report.Next {
	var next report.Next
	if s != nil {
		next.Check = a.command("check", []string{target.text})
	}
	if s != nil && s.Step != "" {
		next.Status = unlabelled(a.nextOf(s, target))
	}
	if in.verdict != nil {
		next.Verify = strings.TrimPrefix(unlabelled(a.nextAfterVerify(in.verdict, sides{source, target}, c.quarantine)), "But ")
	}
	if in.plan != nil {
		next.Plan = a.command("plan", []string{in.plan.Source.Name, in.plan.Target.Name}, planSettings(&in.plan.approved)...)
		next.Migrate = a.commandOfFile("migrate", newFlag("plan", c.plan))
	}
	return next
}
