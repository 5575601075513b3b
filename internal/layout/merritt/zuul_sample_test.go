package merritt_test

import (
	"testing"

	"mrtq/internal/layout"
)

const (
	uuid      = "0123456789abcdef0123456789abcdef"
	otherUUID = "ffffffffffffffffffffffffffffffff"
	acme      = "git.example.org%2Facme" // what a connection, a tenant and so on are called
)

var zuulSample = sample{
	name: "zuul",
	sound: func(t testing.TB, m *layout.Map) forest {
		pipeline := "/zuul/tenant/" + acme + "/pipeline/" + acme
		buildset := pipeline + "/item/" + uuid + "/buildset/" + uuid
		return example(t, m, map[string]string{
			"branch-cache": `{"projects":{}}`, "change-entry": `{"data_uuid":"` + uuid + `"}`, "change": `{}`,
			"component": `{"hostname":"acme","kind":"web"}`, "config-branch": `{"ltime":1}`, "config-file": "- project",
			"entry": `{"event_type":"SemaphoreReleaseEvent","driver_name":"d","event_data":{}}`, "data": `{}`,
			"layout": `{"tenant_name":"acme","uuid":"` + uuid + `"}`, "semaphore": `[{"buildset_path":"` + buildset + `","job_name":"j"}]`,
			"system-conf": `{"system_attributes":{},"unparsed_abide":{"uuid":"` + uuid + `","tenants":{}}}`,
			"pipeline":    `{"queues":["` + pipeline + "/queue/" + uuid + `"],"window_ceiling":Infinity}`, "queue": `{"uuid":"` + uuid + `","queue":["` + pipeline + "/item/" + uuid + `"]}`,
			"item": `{"uuid":"` + uuid + `","current_build_set":"` + buildset + `"}`, "job": `{"name":"j"}`, "build": `{"uuid":"` + uuid + `"}`,
			"buildset":   `{"uuid":"` + uuid + `","builds":{"x":"` + buildset + "/job/" + acme + "/build/" + uuid + `"}}`,
			"repo-state": `{}`, "merge-repo-state": `{}`, "extra-repo-state": `{}`, "build-parameters": `{}`,
			"request": `{"uuid":"` + uuid + `","state":"requested","precedence":200}`, "params": `{}`, "result-data": `{}`,
			"unzoned.result": zuulResult("/zuul/executor/unzoned"), "zone.result": zuulResult("/zuul/executor/zones/acme"), "merger.result": zuulResult("/zuul/merger"),
		})
	},
	breaks: firstWays(changesOf("zuul-breaks.txt", "{uuid}", uuid, "{other}", otherUUID, "{acme}", acme,
		"{pipeline}", "/zuul/tenant/"+acme+"/pipeline/"+acme, "{item}", "/zuul/tenant/"+acme+"/pipeline/"+acme+"/item/"+uuid)),
	// The example's event has its data in the entry itself, so the znode for data is
	// unreferenced.
	also: map[string][]string{"*": {"connection-queue.data/unreferenced", "tenant-management.data/unreferenced", "tenant-trigger.data/unreferenced",
		"pipeline-management.data/unreferenced", "pipeline-trigger.data/unreferenced", "pipeline-result.data/unreferenced"}, "buildset/bad-name": {"buildsets/multiple-buildsets"}, "build/bad-name": {"builds/multiple-builds"},
		"buildsets/multiple-buildsets": {"buildset/not-current"}, "item/dangling-reference": {"buildset/not-current"},
		"unzoned.result/result-without-data": {"unzoned.result-data/unreferenced"}, "zone.result/result-without-data": {"zone.result-data/unreferenced"}, "merger.result/result-without-data": {"merger.result-data/unreferenced"}},
}

func zuulResult(queue string) string {
	return `{"result_data_path":"` + queue + "/result-data/" + uuid + `"}`
}
