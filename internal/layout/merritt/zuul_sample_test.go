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
			"branch-cache": `{"projects":{}}`, "change-entry": `{"data_uuid":"` + uuid + `","key_reference":"{}"}`, "change": `{"change_type":"GerritChange","change_data":{"project":"p"}}`,
			"component": `{"hostname":"acme","kind":"web"}`, "config-branch": `{"ltime":1,"extra_files_searched":[],"extra_dirs_searched":[]}`, "config-file": "- project",
			"entry": `{"event_type":"SemaphoreReleaseEvent","result_path":null,"driver_name":"d","event_data":{}}`, "data": `{}`,
			"layout": `{"tenant_name":"acme","hostname":"h","last_reconfigured":1,"uuid":"` + uuid + `"}`, "semaphore": `[{"buildset_path":"` + buildset + `","job_name":"j"}]`,
			"system-conf": `{"system_attributes":{"use_relative_priority":false,"max_hold_expiration":0,"default_hold_expiration":0,"default_ansible_version":null,"web_root":null,"websocket_url":null},"unparsed_abide":{"uuid":"` + uuid + `","tenants":{}}}`,
			"pipeline":    `{"queues":["` + pipeline + "/queue/" + uuid + `"],"old_queues":[],"layout_uuid":null,"window_ceiling":Infinity}`, "queue": `{"uuid":"` + uuid + `","queue":["` + pipeline + "/item/" + uuid + `"],"_jobs":[],"project_branches":[]}`,
			"item": `{"uuid":"` + uuid + `","current_build_set":"` + buildset + `","changes":[],"event":{"data":{"zuul_event_id":"e","timestamp":1,"span_context":null}},"dynamic_state":{},"item_ahead":null,"items_behind":[]}`,
			"job":  `{"name":"j","dependencies":[],"semaphores":[],"required_projects":{},"provides":[],"requires":[],"tags":[]}`, "build": `{"uuid":"` + uuid + `"}`,
			"buildset":   `{"uuid":"` + uuid + `","builds":{"x":"` + buildset + "/job/" + acme + "/build/" + uuid + `"},"retry_builds":{},"job_graph":null,"nodeset_info":{},"files":null,"merge_repo_state":"` + buildset + `/merge_repo_state","extra_repo_state":"` + buildset + `/extra_repo_state"}`,
			"repo-state": `{}`, "merge-repo-state": `{}`, "extra-repo-state": `{}`, "build-parameters": `{}`,
			"request": `{"uuid":"` + uuid + `","state":"requested","precedence":200,"result_path":null,"build_set_uuid":"b","tenant_name":"t","pipeline_name":"p","event_id":"e","job_type":"merge"}`, "params": `{}`, "result-data": `{}`,
			"unzoned.result": zuulResult("/zuul/executor/unzoned"), "zone.result": zuulResult("/zuul/executor/zones/acme"), "merger.result": zuulResult("/zuul/merger"),
		})
	},
	breaks: firstWays(changesOf("zuul-breaks.txt", "{uuid}", uuid, "{other}", otherUUID, "{acme}", acme,
		"{pipeline}", "/zuul/tenant/"+acme+"/pipeline/"+acme, "{item}", "/zuul/tenant/"+acme+"/pipeline/"+acme+"/item/"+uuid)),
	// The example's event has its data in the entry itself, so the znode for data is
	// unreferenced.
	also: map[string][]string{"*": {"connection-queue.data/unreferenced", "tenant-management.data/unreferenced", "tenant-trigger.data/unreferenced",
		"pipeline-management.data/unreferenced", "pipeline-trigger.data/unreferenced", "pipeline-result.data/unreferenced"}, "buildset/bad-name": {"buildsets/multiple-buildsets"}, "build/bad-name": {"builds/multiple-builds"}, "builds/multiple-builds": {"build/unlisted"}, "change-entry/dangling-reference": {"change/unreferenced"},
		"buildset/dangling-reference": {"build/unlisted"}, "buildset/dangling-merge-state": {"merge-repo-state/unreferenced"}, "buildset/dangling-extra-state": {"extra-repo-state/unreferenced"}, "job/name-mismatch": {"job/unlisted"},
		"buildsets/multiple-buildsets": {"buildset/not-current"}, "item/dangling-reference": {"buildset/not-current"},
		"unzoned.result/result-without-data": {"unzoned.result-data/unreferenced"}, "zone.result/result-without-data": {"zone.result-data/unreferenced"}, "merger.result/result-without-data": {"merger.result-data/unreferenced"}},
}

func zuulResult(queue string) string {
	return `{"result_data_path":"` + queue + "/result-data/" + uuid + `"}`
}
