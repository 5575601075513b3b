package migrate_test

import (
	"encoding/json"
	"testing"

	"mrtq/legacy"
	"mrtq/newqueue"
)

// taken are the names that a configuration has for something else than the property of that name.
var taken = []string{"batch_id", "submissionDate", "submission_mode", "profile_name", "submitter", "payload_url", "payload_type", "response_type", "local_id",
	"update", "absent", "profile", "filename", "type", "responseForm", "localID"}

// Whatever a record's properties are called, and whatever they hold, its job has them all.
func TestEveryPropertyNameIsKept(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d newqueue.Dialect) {
		records := map[string][]byte{}
		for _, name := range taken {
			for which := 1; which < 8; which++ { // with and without each of three prefixes
				for _, value := range []any{"true", true, json.Number("5"), nil} {
					p := job("a", "j")
					delete(p, name)
					for i, prefix := range []string{"", "legacy.", "legacy.legacy."} {
						if which&(1<<i) != 0 {
							p[prefix+name] = value
						}
					}
					records[ingest(len(records)+1)] = record(t, legacy.Completed, p)
				}
			}
		}
		s := serve(t, queueTree(t, records), d)
		opt := s.options()
		opt.Choices.Unserviceable = "migrate"
		s.mustMigrate(opt)
		s.mustVerify()
	})
}
