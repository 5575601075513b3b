package merritt_test

import (
	"encoding/json"
	"strings"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

func newStart(dialect string) []string { return newqueue.Dialect(dialect).StartNodes() }

const requestPath = "/access/small/qid0000000000"

// servicesSample adds what the deployed services demand.
func servicesSample(s *sample) {
	// The example has every kind of lock.
	s.also["*"] = []string{"R02", "R02/lock"}
	// If the library and a service read the same key, a break violates a rule of each. A
	// batch in an unknown state agrees with no job.
	for rule, other := range map[string]string{
		"request-status/bad-time": "R30/status.last_modified", "job-configuration/bad-value": "R26/configuration.submitter", "job-identifiers/bad-value": "R27/identifiers.primary_id",
		"job-inventory/bad-value": "R28/inventory.manifest_url", "job-metadata/bad-value": "R28/metadata", "job-store/bad-value": "R28/store.mode",
		"batch-submission/no-batchid": "R06/submission.batchID", "batch-states/too-early": "R05/status", "batch-status/bad-state": "R05/status",
		"R30/status.last_modified": "request-status/bad-time", "R06/submission.batchID": "batch-submission/no-batchid", "R05/submission": "batch-submission/no-batchid",
	} {
		s.also[rule] = []string{other}
	}
	for i := range services.Demands {
		keyBreak(s, &services.Demands[i])
	}
	noBatchID := s.breaks["batch-submission/no-batchid"]
	for rule, do := range map[string]func(f forest){
		"R01":                    func(f forest) { f.remove("/locks/localid") },
		"R05/status":             func(f forest) { setKey(f, batchPath+"/status", "status", "Completed") },
		"R05/submission":         func(f forest) { f.remove("/batch-uuids/bid-1"); f.change(batchPath+"/submission", "") },
		"R06/submission.batchID": noBatchID,
		"R07/submission": func(f forest) {
			setKey(f, batchPath+"/submission", "batchID", "bid-\a")
			setKey(f, jobPath+"/configuration", "batchID", "bid-\a")
			f.put("/batch-uuids/bid-%07", string(f["/batch-uuids/bid-1"].Data))
			f.remove("/batch-uuids/bid-1")
		},
		"R12/status.last_successful_status": func(f forest) { setKey(f, jobPath+"/status", "last_successful_status", "") },
		"R13/status.message":                func(f forest) { inState(f, "Failed"); dropKey(f, jobPath+"/status", "message") },
		"R18/configuration":                 func(f forest) { f.change(jobPath+"/configuration", "") },
		"R20/configuration":                 func(f forest) { setKey(f, jobPath+"/configuration", "batchID", "bid-2") },
		"R23/configuration": func(f forest) {
			setKey(f, jobPath+"/configuration", "filename", "a/b")
			for key, value := range map[string]string{"type": "manifest", "digestType": "MD5", "digestValue": "d41d8"} {
				setKey(f, jobPath+"/configuration", key, value)
			}
		},
		"R25/configuration":                func(f forest) { setKey(f, jobPath+"/configuration", "digestValue", "d41d8") },
		"R27/identifiers":                  func(f forest) { f.remove(jobPath + "/identifiers") },
		"R28/metadata":                     func(f forest) { setKey(f, jobPath+"/metadata", "other", 5) },
		"R28/inventory":                    func(f forest) { f.change(jobPath+"/inventory", "") },
		"R28/store":                        func(f forest) { f.change(jobPath+"/store", "") },
		"R29/store":                        func(f forest) { inState(f, "Storing"); f.remove(jobPath + "/store") },
		"R29/store.manifest_url":           func(f forest) { inState(f, "Storing"); dropKey(f, jobPath+"/store", "manifest_url") },
		"R29/store.mode":                   func(f forest) { inState(f, "Storing"); dropKey(f, jobPath+"/store", "mode") },
		"R29/store.delete":                 func(f forest) { inState(f, "Storing"); dropKey(f, jobPath+"/store", "delete") },
		"R29/inventory":                    func(f forest) { inState(f, "Recording"); f.remove(jobPath + "/inventory") },
		"R29/inventory.manifest_url":       func(f forest) { inState(f, "Recording"); setKey(f, jobPath+"/inventory", "manifest_url", "nowhere") },
		"R30/configuration":                withoutProfile,
		"R30/submission.submissionDate":    func(f forest) { setKey(f, batchPath+"/submission", "submissionDate", "yesterday") },
		"R30/configuration.submissionDate": func(f forest) { setKey(f, jobPath+"/configuration", "submissionDate", "yesterday") },
		"R30/status.last_modified":         func(f forest) { setKey(f, requestPath+"/status", "last_modified", "yesterday") },
		"R31/status.status":                func(f forest) { setKey(f, requestPath+"/status", "status", "Processing") },
		"R32/token":                        func(f forest) { f.change(requestPath+"/token", "") },
	} {
		s.breaks[rule] = do
	}
}

// keyBreak breaks a demand on a key. It removes the key. If the key may be absent, it
// sets null; if null is allowed, too, it sets a value that is no string. The layout's
// own codecs allow the first two.
func keyBreak(s *sample, d *services.Demand) {
	rule := d.ID + "/" + d.Node + "." + d.Key
	if d.Key == "" || d.ID == "R04" || d.ID == "R12" {
		return // the layout has a rule of its own for it
	}
	path := jobPath
	switch {
	case strings.Contains(d.Of.String(), "batch"):
		path = batchPath
	case strings.Contains(d.Of.String(), "access"):
		path = requestPath
	}
	switch {
	case !d.Optional:
		s.breaks[rule] = func(f forest) { dropKey(f, path+"/"+d.Node, d.Key) }
	case strings.Contains(d.Type.Words, "null"):
		s.breaks[rule] = func(f forest) { setKey(f, path+"/"+d.Node, d.Key, 5) }
	default:
		if s.breaks[rule] == nil {
			s.breaks[rule] = func(f forest) { setKey(f, path+"/"+d.Node, d.Key, nil) }
		}
	}
}

// inState moves the example's job to another state.
func inState(f forest, state string) {
	setKey(f, jobPath+"/status", "status", state)
	f.remove(entryPath)
	f.put("/jobs/states/"+strings.ToLower(state)+"/05-jid0000000000", "")
	if state == "Failed" {
		f.remove(inBatch)
		f.put(batchPath+"/states/batch-failed/jid0000000000", "")
	}
}

// withoutProfile adds a completed job without a profile.
func withoutProfile(f forest) {
	const other = "/jobs/jid0000000001"
	f.put(other, "")
	for node, data := range map[string]string{"bid": "bid0000000000", "configuration": `{}`, "status": `{"status":"Completed","retry_count":0}`, "priority": "5", "space_needed": "0"} {
		f.put(other+"/"+node, data)
	}
	f.put("/jobs/states/completed/05-jid0000000001", "")
	f.put(batchPath+"/states/batch-completed", "")
	f.put(batchPath+"/states/batch-completed/jid0000000001", "")
}

// setKey gives a key of a JSON object another value.
func setKey(f forest, path, key string, value any) {
	changeObject(f, path, func(o map[string]any) { o[key] = value })
}

func dropKey(f forest, path, key string) {
	changeObject(f, path, func(o map[string]any) { delete(o, key) })
}

func changeObject(f forest, path string, do func(o map[string]any)) {
	var o map[string]any
	if err := json.Unmarshal(f[path].Data, &o); err != nil {
		panic(path + ": " + err.Error())
	}
	do(o)
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	f.change(path, string(data))
}
