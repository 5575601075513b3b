package merritt_test

import (
	"slices"
	"testing"

	"mrtq/internal/layout"
	"mrtq/newqueue"
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
		for _, path := range newqueue.Dialect(dialect).StartNodes() {
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

// merrittNames stand for znodes of the example in tables of changes.
var merrittNames = []string{"{batch}", batchPath, "{job}", jobPath, "{request}", requestPath, "{entry}", entryPath, "{inbatch}", inBatch}

func merrittBreaks(dialect string) map[string]func(f forest) {
	names := append(slices.Clone(merrittNames), "{held}", "Held", "{modified}", "last_modified")
	if dialect == "design" {
		names = append([]string{"{held}", "held", "{job}/status {modified}", jobPath + "/status last_modification_date"}, names...)
	}
	b := firstWays(changesOf("merritt-breaks.txt", names...))
	if dialect == "design" { // its workers have no folders, and nobody demands anything else
		for rule := range b {
			if rule[0] == 'R' || rule == "job-configuration/same-job" || rule == "job-store/bad-value" {
				delete(b, rule)
			}
		}
	}
	return b
}
