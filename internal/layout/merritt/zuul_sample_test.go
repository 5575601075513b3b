package merritt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"mrtq/internal/layout"
)

const (
	uuid   = "0123456789abcdef0123456789abcdef"
	dashed = "01234567-89ab-cdef-0123-456789abcdef"
	acme   = "git.example.org%2Facme" // what a connection, a tenant and so on are called
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
	breaks: zuulBreaks(),
	// The example's event has its data in the entry itself, so the znode for data is
	// unreferenced.
	also: map[string][]string{"*": zuulUnreferenced(), "buildset/bad-name": {"buildsets/multiple-buildsets"}, "build/bad-name": {"builds/multiple-builds"},
		"buildsets/multiple-buildsets": {"buildset/not-current"}, "item/dangling-reference": {"buildset/not-current"},
		"unzoned.result/result-without-data": {"unzoned.result-data/unreferenced"}, "zone.result/result-without-data": {"zone.result-data/unreferenced"}, "merger.result/result-without-data": {"merger.result-data/unreferenced"}},
}

var zuulQueues = map[string]string{
	"connection-queue": "/zuul/events/connection/acme/events", "tenant-management": "/zuul/events/tenant/acme/management", "tenant-trigger": "/zuul/events/tenant/acme/trigger",
	"pipeline-management": "/zuul/events/tenant/acme/pipelines/acme/management", "pipeline-trigger": "/zuul/events/tenant/acme/pipelines/acme/trigger", "pipeline-result": "/zuul/events/tenant/acme/pipelines/acme/result",
}

func zuulUnreferenced() []string {
	var rules []string
	for id := range zuulQueues {
		rules = append(rules, id+".data/unreferenced")
	}
	return rules
}

func zuulResult(queue string) string {
	return `{"result_data_path":"` + queue + "/result-data/" + uuid + `"}`
}

// zuulPlaces are the znodes of Zuul's example whose values zuulValues breaks.
var zuulPlaces = map[string]string{
	"change-entry": "/zuul/cache/connection/acme/cache/" + uuid + uuid, "component": "/zuul/components/web/acme0000000000", "layout": "/zuul/layout/acme",
	"pipeline": zuulPipeline, "queue": zuulPipeline + "/queue/" + uuid, "item": zuulItem, "buildset": zuulItem + "/buildset/" + uuid,
	"job": zuulItem + "/buildset/" + uuid + "/job/" + acme, "build": zuulItem + "/buildset/" + uuid + "/job/" + acme + "/build/" + uuid,
}

const (
	zuulPipeline = "/zuul/tenant/" + acme + "/pipeline/" + acme
	zuulItem     = zuulPipeline + "/item/" + uuid
	otherUUID    = "ffffffffffffffffffffffffffffffff"
)

// zuulValues are keys and values that break a rule.
var zuulValues = map[string][2]string{
	"change-entry/dangling-reference": {"data_uuid", `"` + otherUUID + `"`}, "component/kind-mismatch": {"kind", `"merger"`}, "component/host-mismatch": {"hostname", `"other"`},
	"component/unknown-value": {"state", `"odd"`}, "layout/name-mismatch": {"tenant_name", `"other"`},
	"pipeline/dangling-reference": {"queues", `["` + zuulPipeline + "/queue/" + uuid + `","/zuul/nowhere"]`}, "pipeline/dangling-old-queue": {"old_queues", `["/zuul"]`}, "pipeline/unknown-value": {"state", `"odd"`},
	"queue/name-mismatch": {"uuid", `"` + otherUUID + `"`}, "queue/dangling-reference": {"queue", `["` + zuulItem + `","` + zuulPipeline + `"]`},
	"queue/unknown-increase": {"window_increase_type", `"odd"`}, "queue/unknown-decrease": {"window_decrease_type", `"odd"`},
	"item/name-mismatch": {"uuid", `"` + otherUUID + `"`}, "item/dangling-reference": {"current_build_set", `"` + zuulItem + "/buildset/" + otherUUID + `"`}, "item/dangling-ahead": {"item_ahead", `"` + zuulPipeline + `"`}, "item/dangling-behind": {"items_behind", `["` + zuulPipeline + "/item/" + otherUUID + `"]`},
	"buildset/name-mismatch": {"uuid", `"` + otherUUID + `"`}, "buildset/dangling-reference": {"builds", `{"x":"` + zuulItem + `"}`}, "buildset/dangling-retry": {"retry_builds", `{"x":["` + zuulItem + `"]}`},
	"buildset/dangling-files": {"files", `"` + zuulItem + "/buildset/" + uuid + `/files"`}, "buildset/dangling-merge-state": {"merge_repo_state", `"/zuul"`}, "buildset/dangling-extra-state": {"extra_repo_state", `"/zuul"`},
	"buildset/unknown-merge": {"merge_state", "7"}, "buildset/unknown-files": {"files_state", "7"}, "job/name-mismatch": {"uuid", `"` + otherUUID + `"`}, "build/name-mismatch": {"uuid", `"` + otherUUID + `"`},
}

func zuulBreaks() map[string]func(f forest) {
	b := map[string]func(f forest){
		"semaphore/dangling-reference": func(f forest) {
			f.change("/zuul/semaphores/"+acme+"/"+acme, `[{"buildset_path":"`+zuulItem+"/buildset/"+otherUUID+`","job_name":"j"}]`)
		},
	}
	for rule, value := range zuulValues {
		id, _, _ := strings.Cut(rule, "/")
		b[rule] = func(f forest) { setValue(f, zuulPlaces[id], value[0], value[1]) }
	}
	list := func(id, key string, paths ...string) func(forest) {
		return func(f forest) { setValue(f, zuulPlaces[id], key, `["`+strings.Join(paths, `","`)+`"]`) }
	}
	b["queue/unlisted"] = func(f forest) { setValue(f, zuulPipeline, "queues", "[]") }
	b["queue/listed-twice"] = list("pipeline", "old_queues", zuulPlaces["queue"])
	b["item/unlisted"] = func(f forest) { setValue(f, zuulPlaces["queue"], "queue", "[]") }
	b["item/listed-twice"] = list("queue", "queue", zuulItem, zuulItem)
	b["buildset/not-current"] = func(f forest) { setValue(f, zuulItem, "current_build_set", "null") }
	for _, field := range []string{"affected_projects", "artifact_data", "extra_variables", "group_variables", "host_variables", "parent_data", "secret_parent_data", "secrets", "variables"} {
		b["job/dangling-"+strings.ReplaceAll(field, "_", "-")] = func(f forest) { setValue(f, zuulPlaces["job"], field, `{"path":"`+zuulPlaces["job"]+"/"+field+`"}`) }
	}
	for _, field := range []string{"result_data", "secret_result_data"} {
		b["build/dangling-"+strings.ReplaceAll(field, "_", "-")] = func(f forest) { setValue(f, zuulPlaces["build"], field, `{"path":"/zuul"}`) }
	}
	for id, path := range zuulQueues {
		entry := path + "/queue/q0000000000"
		b[id+".entry/dangling-reference"] = func(f forest) {
			f.change(entry, `{"event_type":"SemaphoreReleaseEvent","driver_name":"d","event_data_path":"/zuul/nowhere"}`)
		}
		if !strings.HasSuffix(id, "trigger") && id != "connection-queue" {
			b[id+".entry/unknown-value"] = func(f forest) { setValue(f, entry, "event_type", `"OddEvent"`) }
		}
		if strings.HasSuffix(id, "management") {
			b[id+".entry/bad-result"] = func(f forest) { setValue(f, entry, "result_path", `"/zuul"`) }
			b[id+".entry/no-result"] = func(f forest) {
				setValue(f, entry, "result_path", `"/zuul/results/management/`+strings.ReplaceAll(dashed, "0", "1")+`"`)
			}
		}
	}
	for id, path := range map[string]string{"unzoned": "/zuul/executor/unzoned", "zone": "/zuul/executor/zones/acme", "merger": "/zuul/merger"} {
		request := path + "/requests/" + uuid
		b[id+".request/name-mismatch"] = func(f forest) { setValue(f, request, "uuid", `"`+otherUUID+`"`) }
		b[id+".request/unknown-state"] = func(f forest) { setValue(f, request, "state", `"odd"`) }
		b[id+".request/other-result"] = func(f forest) { setValue(f, request, "result_path", `"`+path+"/results/"+otherUUID+`"`) }
		b[id+".request/running-without-lock"] = func(f forest) { setValue(f, request, "state", `"running"`) }
		b[id+".request/other-zone"] = func(f forest) { setValue(f, request, "zone", `"nowhere"`) }
		b[id+".request/unknown-type"] = func(f forest) { setValue(f, request, "job_type", `"odd"`) }
		b[id+".lock/lock-without-request"] = func(f forest) { f.put(path+"/locks/"+otherUUID, "") }
		b[id+".params/unreferenced"] = func(f forest) {
			f.put(path+"/params/"+otherUUID, "")
			f.put(path+"/params/"+otherUUID+"/0000000000", compressed("{}"))
		}
		b[id+".result-data/unreferenced"] = func(f forest) { f.remove(path + "/results/" + uuid) }
		b[id+".result/result-without-data"] = func(f forest) { f.change(path+"/results/"+uuid, `{"result_data_path":"/zuul"}`) }
		delete(b, map[string]string{"unzoned": "unzoned.request/other-zone", "zone": "zone.request/unknown-type", "merger": "merger.request/other-zone"}[id])
	}
	delete(b, "unzoned.request/unknown-type")
	return b
}

// setValue sets a key of a znode's JSON, or of that of its first shard, compressed or not. No value removes it.
func setValue(f forest, path, key, value string) {
	if f[path+"/0000000000"].Path != "" {
		path += "/0000000000"
	}
	data, pack := string(f[path].Data), func(s string) string { return s }
	if strings.HasPrefix(data, "x") {
		data, pack = inflated([]byte(data)), compressed
	}
	data = strings.ReplaceAll(data, "Infinity", "0")
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(data), &fields); err != nil {
		panic(err)
	}
	if fields[key] = json.RawMessage(value); value == "" {
		delete(fields, key)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	f.change(path, pack(string(text)))
}
