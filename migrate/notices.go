package migrate

import (
	"strconv"
	"strings"

	"mrtq/internal/layout/merritt/services"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// noticesAbout are what an operator should know about the job of an item before a service
// works on it (docs/deployed-services.md). There are none in dialect design.
func noticesAbout(it *Item, d newqueue.Dialect) []services.Notice {
	if d != newqueue.MrtZK || !strings.HasPrefix(it.Job, newqueue.JobsPath+"/") {
		return nil
	}
	job, priority := services.Item{Path: it.Job, Objects: map[string]newqueue.Object{}}, 0
	for _, n := range it.Nodes {
		switch name, _ := strings.CutPrefix(n.Path, it.Job+"/"); name {
		case "priority":
			priority, _ = strconv.Atoi(string(n.Data)) // 0 if it is damaged, which check names
		case "status", "configuration", "identifiers":
			job.Objects[name], _ = newqueue.ParseObject(n.Data)
		}
	}
	consumed := it.Record != nil && it.Record.Err == nil && it.Record.Legacy.Header.Status == legacy.Consumed
	return services.JobNotices(job, priority, consumed)
}
