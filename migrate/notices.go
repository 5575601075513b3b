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
	objects := map[string]newqueue.Object{"status": {}, "configuration": {}, "identifiers": {}}
	j := services.JobFacts{Consumed: it.Record != nil && it.Record.Err == nil && it.Record.Legacy.Header.Status == legacy.Consumed}
	for _, n := range it.Nodes {
		name, _ := strings.CutPrefix(n.Path, it.Job+"/")
		if name == "priority" {
			j.Priority, _ = strconv.Atoi(string(n.Data)) // 0 if it is damaged, which check names
		}
		if _, wanted := objects[name]; !wanted {
			continue
		}
		if o, err := newqueue.ParseObject(n.Data); err == nil {
			objects[name] = o
		}
	}
	j.State, _ = objects["status"]["status"].(string)
	j.Last, j.Configuration, j.Identifiers = objects["status"]["last_successful_status"], objects["configuration"], objects["identifiers"]
	return services.JobNotices(j)
}
