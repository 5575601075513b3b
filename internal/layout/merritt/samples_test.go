package merritt_test

import (
	"strings"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

var samples = []sample{zuulSample, legacySample, merrittSample("design"), merrittSample("mrt-zk")}

var legacySample = sample{
	name: "merritt-legacy",
	sound: func(t testing.TB, m *layout.Map) forest {
		f := example(t, m, map[string]string{"record": legacyRecord(0, `{"token":"t"}`), "lock": legacyRecord(0, "")[1:] + "job"})
		f.remove("/mrt.lock/mrtQ-02100000000003")
		f.put("/mrt.lock/mrtQ-02100000000003", legacyRecord(0, "")[1:]+"job")
		return f
	},
	breaks: legacyBreaks(),
}

func legacyBreaks() map[string]func(f forest) {
	b := map[string]func(f forest){
		"record/duplicate-job": func(f forest) {
			f.put("/ingest/mrtQ-02100000000004", legacyRecord(0, `{"jobID":"j"}`))
			f.put("/ingest/mrtQ-02100000000005", legacyRecord(0, `{"jobID":"j"}`))
		},
		"lock/truncated-header": func(f forest) { f.change("/mrt.lock/mrtQ-02100000000003", "x") },
		"lock/bad-payload": func(f forest) {
			f.change("/mrt.lock/mrtQ-02100000000003", "\x7f\xff\xff\xff\xff\xff\xff\xff")
		},
	}
	for id, queue := range map[string]string{"ingest": "/ingest", "inventory": "/mrt.inventory.full", "access-small": "/accessSmall.1", "access-large": "/accessLarge.1"} {
		for kind, data := range map[string]string{
			"truncated-header": "\x00", "unknown-status": legacyRecord(9, "{}"), "empty-payload": legacyRecord(0, ""), "bad-payload": legacyRecord(0, "{"),
			"unsupported-class": legacyRecord(0, `<java><object class="java.lang.Runtime"></object></java>`), "in-work": legacyRecord(1, "{}"),
		} {
			b[id+".record/"+kind] = func(f forest) { f.put(queue+"/mrtQ-02100000000004", data) }
		}
		b[id+".record/bad-key"] = func(f forest) { f.put(queue+"/x", legacyRecord(0, "{}")) }
		b[id+".record/wrapped-sequence"] = func(f forest) { f.put(queue+"/mrtQ-0210-2147483648", legacyRecord(0, "{}")) }
	}
	return b
}

const (
	jobPath   = "/jobs/jid0000000000"
	batchPath = "/batches/bid0000000000"
	entryPath = "/jobs/states/pending/05-jid0000000000"
	inBatch   = batchPath + "/states/batch-processing/jid0000000000"
)

func merrittSample(dialect string) sample {
	s := sample{name: "merritt", dialect: dialect, breaks: merrittBreaks(dialect), also: map[string][]string{}}
	s.sound = func(t testing.TB, m *layout.Map) forest {
		data := merrittData[dialect]
		f := example(t, m, data)
		f.put(batchPath+"/states/batch-failed", "")
		for _, path := range newStart(dialect) {
			if f[path].Path == "" {
				f.put(path, "")
			}
		}
		return f
	}
	if dialect == "mrt-zk" {
		servicesSample(&s)
	}
	return s
}

var merrittData = map[string]map[string]string{
	"design": {
		"batch-submission": `{"batchID":"bid-1"}`, "batch-status": `{"status":"processing"}`, "batch-report": `{}`,
		"request-token": `{}`, "request-status": `{"status":"pending"}`,
		"job-bid": "bid0000000000", "job-configuration": `{}`, "job-status": `{"status":"pending","retry_count":0}`, "job-priority": "5", "job-space": "0",
		"job-identifiers": `{}`, "job-metadata": `{}`, "job-inventory": `{}`, "batch-uuid": "bid0000000000",
	},
	"mrt-zk": {
		"batch-submission": `{"batchID":"bid-1","update":false,"profile":"p","submissionDate":"2024-03-01 12:00:00 -0800","submitter":"me"}`, "batch-status": `{"status":"Processing","message":""}`, "batch-report": `{}`,
		"request-token": `{"token":"t","cloud-content-byte":1,"delivery-node":2}`, "request-status": `{"status":"Pending"}`,
		"job-bid": "bid0000000000", "job-status": `{"status":"Pending","retry_count":0,"last_successful_status":null,"message":""}`, "job-priority": "5", "job-space": "0",
		"job-configuration": `{"jobID":"j","batchID":"bid-1","profile":"p","type":"file","filename":"f","update":false}`,
		"job-identifiers":   `{"primary_id":"","local_id":[]}`, "job-metadata": `{"erc_what":"w"}`, "job-inventory": `{"manifest_url":"http://x/","mode":""}`, "job-store": `{"manifest_url":"http://x/","mode":"add/9502/ark%3A%2F99999%2Ffk4","delete":"no"}`,
		"batch-uuid": "bid0000000000",
	},
}

func merrittBreaks(dialect string) map[string]func(f forest) {
	set := func(path, data string) func(forest) { return func(f forest) { f.change(path, data) } }
	state := func(s string) string {
		if dialect == "mrt-zk" {
			return strings.ToUpper(s[:1]) + s[1:]
		}
		return s
	}
	b := map[string]func(f forest){
		"queue-entry/orphan":      func(f forest) { f.put("/jobs/states/pending/05-jid0000000009", "") },
		"queue-entry/wrong-queue": func(f forest) { f.put("/jobs/states/held/05-jid0000000000", ""); f.put("/jobs/states/held", "") },
		"queue-entry/wrong-priority": func(f forest) {
			f.put("/jobs/states/pending/07-jid0000000000", "")
		},
		"queue-entry/three-digits": func(f forest) { f.put("/jobs/states/pending/105-jid0000000000", "") },
		"queue-entry/no-entry":     func(f forest) { f.remove(entryPath) },
		"batch-entry/orphan":       func(f forest) { f.put(batchPath+"/states/batch-processing/jid0000000009", "") },
		"batch-entry/wrong-folder": func(f forest) { f.put(batchPath+"/states/batch-failed/jid0000000000", "") },
		"batch-entry/other-batch": func(f forest) {
			for path, n := range f.clone() {
				if other, ok := strings.CutPrefix(path, batchPath); ok && !znode.Within(path, batchPath+"/lock") {
					n.Path = "/batches/bid0000000001" + other
					f[n.Path] = n
				}
			}
			sub := "/batches/bid0000000001/submission"
			f.change(sub, strings.ReplaceAll(string(f[sub].Data), "bid-1", "bid-2"))
			f.put("/batch-uuids/bid-2", "bid0000000001")
		},
		"batch-entry/no-entry": func(f forest) { f.remove(inBatch) },
		"job-bid/orphan":       func(f forest) { f.remove(inBatch); f.change(jobPath+"/bid", "bid0000000009") },
		"job-configuration/other-batch": func(f forest) {
			path := jobPath + "/configuration"
			f.change(path, strings.Replace(`{"batch_id":"bid0000000009",`+string(f[path].Data[1:]), ",}", "}", 1))
		},
		"job-configuration/same-job": func(f forest) {
			for path, n := range f.clone() {
				if other, ok := strings.CutPrefix(path, jobPath); ok && !znode.Within(path, jobPath+"/lock") {
					n.Path = "/jobs/jid0000000001" + other
					f[n.Path] = n
				}
			}
			f.put("/jobs/states/pending/05-jid0000000001", "")
			f.put(batchPath+"/states/batch-processing/jid0000000001", "")
		},
		"batch-uuid/orphan":      func(f forest) { f.put("/batch-uuids/bid-9", "bid0000000009") },
		"batch-uuid/other-batch": func(f forest) { f.put("/batch-uuids/bid-9", "bid0000000000") },
		"batch-uuid/no-entry":    func(f forest) { f.remove("/batch-uuids/bid-1") },
		"batch-submission/no-batchid": func(f forest) {
			f.remove("/batch-uuids/bid-1")
			path := batchPath + "/submission"
			f.change(path, strings.Replace(string(f[path].Data), `"batchID":"bid-1"`, `"x":1`, 1))
		},
		"batch-states/no-states": func(f forest) {
			f.remove(batchPath + "/states")
			f.remove(jobPath)
			f.remove(entryPath)
		},
		"batch-states/too-early": func(f forest) {
			f.remove(inBatch)
			f.remove(jobPath)
			f.remove(entryPath)
			f.change(batchPath+"/status", `{"status":"`+state("held")+`","message":""}`)
		},
		"batch-states/no-processing": func(f forest) {
			f.remove(batchPath + "/states/batch-processing")
			f.remove(jobPath)
			f.remove(entryPath)
		},
		"job-priority/bad-value":     set(jobPath+"/priority", "100"),
		"job-space/bad-value":        set(jobPath+"/space_needed", "-2"),
		"job-state/bad-state":        func(f forest) { f.put("/jobs/states/odd", "") },
		"batch-folder/bad-state":     func(f forest) { f.put(batchPath+"/states/processing", "") },
		"queue-entry/bad-name":       func(f forest) { f.put("/jobs/states/pending/5-jid0000000000", "") },
		"batch-submission/bad-value": set(batchPath+"/submission", strings.Replace(merrittData[dialect]["batch-submission"], `{`, `{"type":5,`, 1)),
	}
	for id, path := range map[string]string{"batch": batchPath, "request": "/access/small/qid0000000000", "job": jobPath} {
		status := merrittData[dialect][id+"-status"]
		key := "last_modified"
		if id == "job" && dialect == "design" {
			key = "last_modification_date"
		}
		b[id+"-status/bad-time"] = func(f forest) { setKey(f, path+"/status", key, "yesterday") }
		b[id+"-status/bad-state"] = set(path+"/status", strings.NewReplacer(state("pending"), "odd", state("processing"), "odd").Replace(status))
		b[id+"-status/bad-value"] = func(f forest) { setKey(f, path+"/status", "message", 5) }
	}
	if dialect == "design" { // its workers have no folders
		delete(b, "job-configuration/same-job")
	}
	b["batch-report/bad-value"] = set(batchPath+"/status-report", `{"failed_jobs":5}`)
	for node, key := range map[string]string{"configuration": "submitter", "identifiers": "primary_id", "metadata": "erc_what", "inventory": "manifest_url", "store": "mode"} {
		if dialect == "mrt-zk" || node != "store" {
			b["job-"+node+"/bad-value"] = func(f forest) { setKey(f, jobPath+"/"+node, key, 5) }
		}
	}
	return b
}
