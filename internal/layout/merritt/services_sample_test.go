package merritt_test

import (
	"strings"

	"mrtq/internal/layout/merritt/services"
)

const requestPath = "/access/small/qid0000000000"

func servicesSample(s *sample) {
	// The example has every kind of lock.
	s.also["*"] = []string{"R02", "R02/lock"}
	// If the library and a service read the same key, a break violates a rule of each. A
	// batch in an unknown state agrees with no job.
	for rule, other := range map[string]string{
		"job-identifiers/bad-value":   "R27/identifiers.primary_id",
		"batch-submission/no-batchid": "R06/submission.batchID", "batch-states/too-early": "R05/status", "batch-status/bad-state": "R05/status",
		"R06/submission.batchID": "batch-submission/no-batchid",
	} {
		s.also[rule] = []string{other}
	}
	for i, d := range services.Requirements {
		if d.Key != "" && s.breaks[d.ID+"/"+d.Node+"."+d.Key] == nil {
			keyBreak(s, &services.Requirements[i])
		}
	}
}

// keyBreak breaks a requirement on a key. It removes the key. If the key may be absent, it
// sets null; if null is allowed, too, it sets a value that is no string. The layout's
// own codecs allow the first two.
func keyBreak(s *sample, d *services.Requirement) {
	path, key := jobPath+"/"+d.Node, d.Key
	switch {
	case strings.Contains(d.Of.String(), "batch"):
		path = batchPath + "/" + d.Node
	case strings.Contains(d.Of.String(), "access"):
		path = requestPath + "/" + d.Node
	}
	s.breaks[d.ID+"/"+d.Node+"."+key] = func(f forest) {
		for _, state := range []string{"Failed", "Storing", "Recording"} {
			if d.Of.String() == "every "+state+" job" || d.Of.String() == "every job in "+state {
				inState(f, state)
			}
		}
		switch {
		case !d.Optional:
			setValue(f, path, key, "")
		case strings.Contains(d.Type.Words, "null"):
			setKey(f, path, key, 5)
		default:
			setKey(f, path, key, nil)
		}
	}
}

func inState(f forest, state string) {
	setKey(f, jobPath+"/status", "status", state)
	f.remove(entryPath)
	f.put("/jobs/states/"+strings.ToLower(state)+"/05-jid0000000000", "")
	if state == "Failed" {
		f.remove(inBatch)
		f.put(batchPath+"/states/batch-failed/jid0000000000", "")
	}
}
