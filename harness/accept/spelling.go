package accept

import (
	"time"

	"mrtq/newqueue"
)

// spelling says how a dialect writes the layout (docs/new-layout.md, "Two
// dialects").
type spelling struct {
	dialect    newqueue.Dialect
	jobTime    string // the field with the time in a job's status
	timeFormat string
	localIDs   string // the folder of local id locks
}

// spell returns the spelling of a dialect.
func spell(d newqueue.Dialect) spelling {
	if d == newqueue.MrtZK {
		return spelling{d, "last_modified", "2006-01-02 15:04:05 -0700", "/locks/localid"}
	}
	return spelling{d, "last_modification_date", time.RFC3339, "/locks/queue/localid"}
}

// timeKey is the field with the time in a status.
func (s spelling) timeKey(kind string) string {
	if kind == "job" {
		return s.jobTime
	}
	return "last_modified"
}

// deployed has the deployed library's names of the states.
var deployed = map[string]string{
	"pending": "Pending", "held": "Held", "estimating": "Estimating", "provisioning": "Provisioning",
	"downloading": "Downloading", "processing": "Processing", "storing": "Storing", "recording": "Recording",
	"notify": "Notify", "failed": "Failed", "completed": "Completed", "deleted": "Deleted",
	"reporting": "Reporting", "update-reporting": "UpdateReporting",
}

// mrtZK reports whether the dialect is that of the deployed library.
func (s spelling) mrtZK() bool { return s.dialect == newqueue.MrtZK }

// state returns a state's value in JSON. For none it is null.
func (s spelling) state(name string) any {
	switch {
	case name == none:
		return nil
	case s.mrtZK():
		return deployed[name]
	}
	return name
}

// none is the word in scenarios for no last successful status.
const none = "none"

// stateFromJSON returns the state that a value in JSON means. If the dialect doesn't have
// such a state, it returns the text itself, in quotes.
func (s spelling) stateFromJSON(spelled any) string {
	for name := range deployed {
		if s.state(name) == spelled {
			return name
		}
	}
	text, _ := spelled.(string)
	return "“" + text + "”"
}

// time returns the text for a time in JSON.
func (s spelling) time(t time.Time) string { return t.Format(s.timeFormat) }

// message returns the message in a status. Without one, only one dialect has the field.
func (s spelling) message(text string) any {
	if text == "" && !s.mrtZK() {
		return absent{}
	}
	return text
}

// folderOf returns the name of the folder of its batch in which a job in a state has its
// entry.
func folderOf(state string) string {
	switch state {
	case "failed", "completed", "deleted":
		return "batch-" + state
	}
	return "batch-processing"
}
