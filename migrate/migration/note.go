package migration

import "mrtq/newqueue"

// Note is what a command says of a record and its job.
type Note struct {
	Record string `json:"record"`
	Job    string `json:"job"`
	State  string `json:"state,omitempty"` // that the job is in; "" if it was not read, or is gone
	// Question is what somebody must decide, and Why what there is to know: of a question, why an answer can't be carried out yet.
	Question Question           `json:"question,omitempty"`
	Why      string             `json:"why,omitempty"`
	Queue    newqueue.QueueHold `json:"-"`
	// Namesake says that somebody may have to decide about another record of its name, too, so that an answer must name the job.
	Namesake bool `json:"-"`
}

// Question is what somebody must decide about a record.
type Question string

// The questions.
const (
	QuestionJobGone  Question = "job-gone" // the record is as it was, and its job is not there
	QuestionBoth     Question = "both"     // both sides acted
	QuestionVanished Question = "vanished" // the record is not there, and nobody has begun its job
	QuestionAgain    Question = "again"    // the record was handed over, and is in the legacy queue again
	QuestionTaken    Question = "taken"    // another target's release has handed the record over
)

// Says returns what the question is about, in a clause about the record; "" if it is no question.
func (q Question) Says() string {
	return map[Question]string{
		QuestionJobGone:  "it is as it was migrated, and its job was removed: an administrator deleted it, or a worker finished it",
		QuestionBoth:     "it has changed since it was migrated, and its job was begun: both queues have begun its work",
		QuestionVanished: "it is not in the legacy queue any more, and nobody has begun its job: a legacy worker has done its work, or somebody deleted or renamed it",
		QuestionAgain:    "it was handed over, and is in the legacy queue again",
		QuestionTaken:    "another target was released first and has its work; its folder in mrtq-handed-over names it",
	}[q]
}

// Answer is what somebody decided about a record.
type Answer string

// The answers.
const (
	AnswerNone   Answer = ""
	AnswerNew    Answer = "new"    // the job has the work
	AnswerLegacy Answer = "legacy" // the legacy queue has it, or has done it
)

// Answers are all answers, but [AnswerNone].
var Answers = []Answer{AnswerNew, AnswerLegacy}
