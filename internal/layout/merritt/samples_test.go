package merritt_test

import (
	"slices"
	"testing"

	"mrtq/internal/layout"
	"mrtq/newqueue"
)

var samples = []sample{zuulSample, merrittSample("design"), merrittSample("mrt-zk")}

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

var merrittNames = []string{"{batch}", batchPath, "{job}", jobPath, "{request}", requestPath, "{entry}", entryPath, "{inbatch}", inBatch}

func merrittBreaks(dialect string) map[string]func(f forest) {
	names := append(slices.Clone(merrittNames), "{held}", "Held", "{modified}", "last_modified", "{days ago}", "2023-11-01 12:00:00 +0000")
	if dialect == "design" {
		names = append([]string{"{held}", "held", "{days ago}", "2023-11-01T12:00:00Z", "{job}/status {modified}", jobPath + "/status last_modification_date"}, names...)
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
