package plan

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/newqueue"
)

// Decision is what a person decided about one record: a line of a decisions file.
type Decision struct {
	Line   int    // of the file, from 1
	Record string // its path; or a batch's path below /batch-uuids
	Choice string // "" is not decided yet
	Hash   string // the record's [ledger.Hash] when the file was written
}

// ErrDecisions says that a file is not a decisions file, or has a line that can't be used.
// The error names the line.
var ErrDecisions = errors.New("this is not a decisions file as mrtq writes it")

// decisionColumns are the columns of a decisions file. People fill in choice, and may
// change why.
var decisionColumns = []string{"record", "choice", "why", "choices", "sha256"}

// ReadDecisions reads a decisions file: CSV with a header (docs/migration.md, "Record by
// record"). The error wraps [ErrDecisions], or comes from r.
func ReadDecisions(r io.Reader) ([]Decision, error) {
	lines := csv.NewReader(r)
	lines.FieldsPerRecord = -1
	header, err := lines.Read()
	if err == nil && len(header) > 0 {
		header[0] = strings.TrimPrefix(header[0], "\ufeff") // as spreadsheets write it
	}
	if err != nil && err != io.EOF || !slices.Equal(header, decisionColumns) {
		return nil, fmt.Errorf("%w: line 1: expected the columns %s", ErrDecisions, strings.Join(decisionColumns, ","))
	}
	var all []Decision
	first := map[string]int{}
	for {
		cells, err := lines.Read()
		if err == io.EOF {
			return all, nil
		}
		if bad := new(csv.ParseError); errors.As(err, &bad) {
			return nil, fmt.Errorf("%w: line %d: %w", ErrDecisions, bad.Line, bad.Err)
		} else if err != nil {
			return nil, err
		}
		n, _ := lines.FieldPos(0)
		if len(cells) != len(decisionColumns) {
			return nil, fmt.Errorf("%w: line %d: it has %d columns, expected %d", ErrDecisions, n, len(cells), len(decisionColumns))
		}
		d := Decision{Line: n, Record: cells[0], Choice: strings.TrimSpace(cells[1]), Hash: cells[4]}
		if was := first[d.Record]; was != 0 {
			return nil, fmt.Errorf("%w: line %d: %s is in line %d already; keep one of them", ErrDecisions, n, d.Record, was)
		}
		first[d.Record] = n
		all = append(all, d)
	}
}

// WriteDecisions writes the records that are not decided as a decisions file without choices,
// after those that are.
func (p *Plan) WriteDecisions(w io.Writer) error {
	lines := csv.NewWriter(w)
	if err := lines.Write(decisionColumns); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(p.Choices.Decided)) {
		d := p.Choices.Decided[path]
		if err := lines.Write([]string{path, d.Choice, "decided before", "", d.SHA256}); err != nil {
			return err
		}
	}
	for _, u := range p.Undecided {
		if err := lines.Write([]string{u.Path, "", strings.Join(u.Why, "; "), strings.Join(u.Choices, " or "), u.Hash}); err != nil {
			return err
		}
	}
	lines.Flush()
	return lines.Error()
}

// Undecided is a record, or a batch, that blocks the plan until somebody decides about it.
type Undecided struct {
	Path    string   `json:"path"`
	Why     []string `json:"why"`
	Choices []string `json:"choices"`
	Hash    string   `json:"hash,omitempty"`
}

// undecided collects what is not decided, in the order in which it is found.
type undecided struct {
	list []Undecided
	at   map[string]int
}

func (u *undecided) add(path, why, hash string, choices []string) {
	if u.at == nil {
		u.at = map[string]int{}
	}
	i, known := u.at[path]
	if !known {
		i = len(u.list)
		u.at[path], u.list = i, append(u.list, Undecided{Path: path, Choices: choices, Hash: hash})
	}
	if !slices.Contains(u.list[i].Why, why) {
		u.list[i].Why = append(u.list[i].Why, why)
	}
}

// takeDecisions takes the decisions that the options have, with those of the run that the
// plan finishes.
func (b *Builder) takeDecisions() {
	p := b.plan
	decided := map[string]rules.Decided{}
	maps.Copy(decided, p.Unfinished.Choices.Decided)
	maps.Copy(decided, p.Choices.Decided)
	p.Choices.Decided = decided
	b.decisions = map[string]Decision{}
	for _, d := range b.in.Options.Decisions {
		if d.Choice != "" {
			b.decisions[d.Record] = d
			p.Choices.Decided[d.Record] = rules.Decided{Choice: d.Choice, SHA256: d.Hash}
		}
	}
	// The run's record keeps them, and each transaction writes it.
	if text, err := json.Marshal(p.Choices.Decided); err == nil && len(p.Choices.Decided) > 0 {
		p.decided = len(text)
	}
	if most := p.Settings.Packet / 4; p.decided > most {
		b.problem(Problem{Kind: BadDecision, Path: "/", Message: fmt.Sprintf("the decisions about %d records take %d bytes, and a run keeps at most %d", len(p.Choices.Decided), p.decided, most),
			Next: "choose for most of them with the options for all records"})
	}
}

// block adds the problem of a record or batch that somebody has to decide about.
func (b *Builder) block(p Problem) {
	if b.plan.Resumes && p.Kind != Unreadable {
		p.Next += fmt.Sprintf("; %s keeps the choices for all records, so decide record by record, or roll it back first", b.plan.Run)
	}
	b.problem(p)
}

// isDecided reports whether somebody has decided about a record as it is, or about a batch.
func (b *Builder) isDecided(path string) bool {
	d, there := b.plan.Choices.Decided[path]
	return there && (d.SHA256 == "" || d.SHA256 == b.record(path).Hash.String())
}

// checkDecision refuses a decision that is not about the record as it is now, and forgets it.
// done is the record's entry in the ledger, if it is not migrated again.
func (b *Builder) checkDecision(r rules.Record, line *Record, done *ledger.Migrated) {
	d, given := b.decisions[r.Path]
	delete(b.decisions, r.Path)
	choices := rules.Decidable(line.Status)
	switch {
	case done == nil && !given && b.plan.Choices.Decided[r.Path].SHA256 != line.Hash.String():
		delete(b.plan.Choices.Decided, r.Path)
	case done == nil && given && d.Hash != line.Hash.String():
		b.badDecision(d, "the record has changed since the decisions were written", "look at it again: write a new decisions file")
	case done == nil && given && !slices.Contains(choices, d.Choice):
		b.badDecision(d, fmt.Sprintf("%.40q is no choice for this record", d.Choice), "choose "+strings.Join(choices, " or "))
	default:
		b.checkOther(r, done)
	}
}

// checkOther refuses to decide in another way than the run that the plan finishes, about a
// record that it has migrated or was to migrate, skip or quarantine: its batch may be finished.
func (b *Builder) checkOther(r rules.Record, done *ledger.Migrated) {
	p, run := b.plan, &b.plan.Unfinished
	was, decided := run.Choices.Decided[r.Path]
	if !p.Resumes || p.Choices.Decided[r.Path] == was {
		return
	}
	before := rules.Decide(r, run.Choices)
	migrated := done != nil && b.in.Target.Ledger.Runs[done.Run].ID == run.ID
	planned := done == nil && run.HadRecord(r.Path) && before.Do != rules.Block && before != rules.Decide(r, p.Choices)
	if !migrated && !planned {
		return
	}
	b.problem(Problem{Kind: OtherChoices, Path: r.Path, Message: run.ID + " was begun with another decision about it, or with none",
		Next: fmt.Sprintf("finish it with that, or roll back %s first", run.ID), Fits: run.ID})
	if delete(p.Choices.Decided, r.Path); decided {
		p.Choices.Decided[r.Path] = was
	}
}

// checkBatchDecision refuses a decision about a batch other than to migrate it.
func (b *Builder) checkBatchDecision(path string) {
	if d, there := b.decisions[path]; there && d.Choice != rules.Migrate {
		b.badDecision(d, fmt.Sprintf("%.40q is no choice for a batch", d.Choice), "choose "+rules.Migrate)
	}
	delete(b.decisions, path)
}

// refuseUnknown refuses the decisions about what is not there, and forgets them.
func (b *Builder) refuseUnknown() {
	for path := range b.plan.Choices.Decided {
		d, given := b.decisions[path]
		_, batch := b.named[path]
		migrated := b.in.Target.Ledger.Find(path) != nil || // it may have left the source
			b.in.Target.Ledger.BatchByUUID(strings.TrimPrefix(path, newqueue.BatchUUIDsPath+"/")) != nil
		switch {
		case migrated || b.record(path).Path != "":
		case given:
			b.badDecision(d, "neither the source nor this migration has it", "check its path, or remove the line")
		case !batch:
			delete(b.plan.Choices.Decided, path)
		}
	}
}

// badDecision adds the problem of a decision, which does not count.
func (b *Builder) badDecision(d Decision, message, next string) {
	delete(b.plan.Choices.Decided, d.Record)
	b.problem(Problem{Kind: BadDecision, Path: d.Record, Message: fmt.Sprintf("line %d of the decisions: %s", d.Line, message), Next: next})
}

// record is the plan's record at a path; for a batch, an empty one that can only be migrated.
func (b *Builder) record(path string) *Record {
	if b.records == nil {
		b.records = map[string]*Record{}
		for i := range b.plan.Records {
			b.records[b.plan.Records[i].Path] = &b.plan.Records[i]
		}
	}
	if r, there := b.records[path]; there {
		return r
	}
	return &Record{Status: legacy.Pending.String()}
}
