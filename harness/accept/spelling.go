package accept

import (
	"strings"
	"time"

	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// spelling says how a dialect writes the layout (docs/new-layout.md, "Two
// dialects").
type spelling struct {
	dialect    newqueue.Dialect
	jobTime    string // the field with the time in a job's status
	timeFormat string
	localIDs   string            // the folder of local id locks
	names      map[string]string // of states, by their values in JSON
}

func spell(d newqueue.Dialect) spelling {
	s := spelling{d, "last_modification_date", time.RFC3339, "/locks/queue/localid", map[string]string{}}
	if d == newqueue.MrtZK {
		s.jobTime, s.timeFormat, s.localIDs = "last_modified", "2006-01-02 15:04:05 -0700", "/locks/localid"
	}
	for _, e := range states.Entities {
		for _, name := range states.States(e, string(d)) {
			s.names[s.state(name).(string)] = name
		}
	}
	return s
}

func (s spelling) timeKey(kind string) string {
	if kind == "job" {
		return s.jobTime
	}
	return "last_modified"
}

func deployed(state string) (name string) {
	for _, word := range strings.Split(state, "-") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

func (s spelling) mrtZK() bool { return s.dialect == newqueue.MrtZK }

func (s spelling) state(name string) any {
	switch {
	case name == none:
		return nil
	case s.mrtZK():
		return deployed(name)
	}
	return name
}

// none is the word in scenarios for no last successful status.
const none = "none"

func (s spelling) stateFromJSON(spelled any) string {
	text, _ := spelled.(string)
	if name, known := s.names[text]; known {
		return name
	}
	return "“" + text + "”"
}

func (s spelling) time(t time.Time) string { return t.Format(s.timeFormat) }

// message returns the message in a status. Without one, only one dialect has the field.
func (s spelling) message(text string) any {
	if text == "" && !s.mrtZK() {
		return absent{}
	}
	return text
}
