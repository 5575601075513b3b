package migrate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

const (
	onlyIngest = "only ingest jobs can be held: it becomes failed"
)

// In which state a consumed or failed record's job begins is the operator's choice. A job
// that can't be held becomes failed, with a warning: as pending it would run.
func TestConsumedAndFailedRecords(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, c := range []struct {
			choice                    string
			ingest, inventory, access string
			warned                    bool
		}{
			{"held", "held", "failed", "failed", true},
			{"pending", "pending", "recording", "pending", false},
			{"failed", "failed", "failed", "failed", false},
		} {
			for status, choose := range map[legacy.Status]func(*migrate.Choices){
				legacy.Consumed: func(o *migrate.Choices) { o.Consumed = c.choice },
				legacy.Failed:   func(o *migrate.Choices) { o.Failed = c.choice },
			} {
				name := fmt.Sprintf("%s %s", status, c.choice)
				s := serve(t, queueTree(t, map[string][]byte{
					ingest(1):       record(t, status, job("a", "1")),
					inventoryRecord: record(t, status, legacy.Payload{"manifestURL": "http://store.example/manifest/1/ark%3A%2F99999%2F7"}),
					accessRecord:    record(t, status, token("t")),
				}), d)
				opt := s.options()
				choose(&opt.Choices)
				p := s.plan(opt.Options)
				s.mustMigrate(opt)
				s.mustVerify()
				for record, want := range map[string]string{ingest(1): c.ingest, inventoryRecord: c.inventory, accessRecord: c.access} {
					found, err := migrate.Find(t.Context(), &s.w.Reader, record)
					s.must(err)
					if status := string(s.data(found.Job + "/status")); !strings.Contains(strings.ToLower(status), fmt.Sprintf(`"status":"%s"`, want)) {
						t.Errorf("%s: %s: %s, expected %s", name, record, status, want)
					}
					warned := slices.Contains(p.Warnings, migrate.Warning{Path: record, Message: onlyIngest})
					if warned != (c.warned && record != ingest(1)) {
						t.Errorf("%s: %s: warnings %v", name, record, p.Warnings)
					}
				}
			}
		}
	})
}

// A plan says of each choice which records might run twice or never, and in dialect mrt-zk
// which might be stored without their content when they are requeued.
func TestRisksOfConsumedAndFailedRecords(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, map[string][]byte{
			ingest(1):       record(t, legacy.Consumed, job("a", "1")),
			ingest(2):       record(t, legacy.Failed, job("a", "2")),
			inventoryRecord: record(t, legacy.Failed, legacy.Payload{"manifestURL": "http://store.example/manifest/1/ark%3A%2F99999%2F7"}),
		}), d)
		opt := s.options()
		opt.Choices.Consumed = "held"
		empty := func(paths ...string) string {
			if d != newqueue.MrtZK {
				paths = nil
			}
			return fmt.Sprint(paths)
		}
		one, two, three := "["+ingest(1)+"]", "["+ingest(2)+" "+inventoryRecord+"]", ingest(2)
		want := []string{
			"consumed leave: twice [], never [], empty [], chosen false",
			"consumed held: twice [], never " + one + ", empty [], chosen true",
			"consumed pending: twice " + one + ", never [], empty [], chosen false",
			"consumed failed: twice [], never " + one + ", empty " + empty(ingest(1)) + ", chosen false",
			"failed failed: twice [], never " + two + ", empty " + empty(three) + ", chosen true",
			"failed held: twice [], never " + two + ", empty [], chosen false",
			"failed pending: twice " + two + ", never [], empty [], chosen false",
		}
		var got []string
		for _, r := range s.plan(opt.Options).Risks {
			got = append(got, fmt.Sprintf("%s %s: twice %v, never %v, empty %v, chosen %v", r.About, r.Choice, r.Twice, r.Never, r.Empty, r.Chosen))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
