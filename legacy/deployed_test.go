package legacy

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestDeployedForms decodes each form that a deployed service wrote (docs/legacy-format.md, "What was written when").
// What ingest serialized until February 2024 is in testdata/legacy.ndjson.
func TestDeployedForms(t *testing.T) {
	beans := func(version, entries string) string { // as ZooCodeUtil.encodeItem
		return `<?xml version="1.0" encoding="UTF-8"?> 
<java version="` + version + `" class="java.beans.XMLDecoder"> 
 <object class="java.util.Properties"> 
` + entries + ` </object> 
</java> 
`
	}
	put := func(key, value string) string {
		return "  <void method=\"put\"> \n   <string>" + key + "</string> \n   <string>" + value + "</string> \n  </void> \n"
	}
	const url = "http://store.example.org:35121/manifest/910/ark%3A%2F13030%2Fx1"
	tests := []struct {
		name, payload string
		key           Key
		format        Format
		want          Payload
	}{
		{"mrtQ-000000000001", url, // /inventory, 2011 to 2013
			Key{Sequence: 1}, Properties, Payload{"http": "//store.example.org:35121/manifest/910/ark%3A%2F13030%2Fx1"}},
		{"mrtQ-000000000002", beans("1.6.0_20", put("profile", "p")+put("batch_id", "bid-1")+put("job_id", "jid-1")+put("user_agent", "unknown")+ // /inv, December 2012
			put("submitted_date_time", "2012-12-04T10:00:00-08:00")+put("current_version_number", "1")+put("fileid", "x.zip")+put("storage_url", url)),
			Key{Sequence: 2}, BeansXML, Payload{"profile": "p", "batch_id": "bid-1", "job_id": "jid-1", "user_agent": "unknown",
				"submitted_date_time": "2012-12-04T10:00:00-08:00", "current_version_number": "1", "fileid": "x.zip", "storage_url": url}},
		{"mrtQ-000000000003", beans("1.6.0_20", put("manifest_url", url)), Key{Sequence: 3}, BeansXML, Payload{"manifest_url": url}}, // a day in January 2013
		{"mrtQ-000000000004", beans("11.0.22", put("manifestURL", url)), Key{Sequence: 4}, BeansXML, Payload{"manifestURL": url}},
		{"mrtQ-000000000005", `{"status":201,"token":"bf6ef133","cloud-content-byte":206290233,"delivery-node":7001}`, // access
			Key{Sequence: 5}, JSON, Payload{"status": json.Number("201"), "token": "bf6ef133", "cloud-content-byte": json.Number("206290233"), "delivery-node": json.Number("7001")}},
		{"mrtQ-050000000006", `{"jobID":"jid-1"}`, Key{Priority: 5, Sequence: 6}, JSON, Payload{"jobID": "jid-1"}}, // ingest's keys until May 2023
		{"mrtQ-0510000212177", `{"jobID":"jid-1"}`, Key{Priority: 5, Flagged: true, HighPriority: true, Sequence: 212177}, JSON, Payload{"jobID": "jid-1"}},
		{"mrtQ-05130000212178", `{"jobID":"jid-1"}`, Key{Priority: 5, Flagged: true, HighPriority: true, Worker: "3", Sequence: 212178}, JSON, Payload{"jobID": "jid-1"}},
	}
	for _, test := range tests {
		r, err := Decode(test.name, append(AppendHeader(nil, Header{}), test.payload...), Options{})
		if err != nil || r.Key != test.key || r.Format != test.format || !reflect.DeepEqual(r.Payload, test.want) {
			t.Errorf("%s: %v\n got %+v %s %v\nwant %+v %s %v", test.name, err, r.Key, r.Format, r.Payload, test.key, test.format, test.want)
		}
	}
}
