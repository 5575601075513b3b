package migration

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"mrtq/internal/text"
)

// ErrPlanFile says that a file is not a saved plan, or not a whole one.
var ErrPlanFile = errors.New("this is not a plan as mrtq saved it")

const savedFormat = 4

// header is a plan without its long lists, which follow line by line.
type header struct {
	Format int `json:"format"`
	*alias
	Batches  *struct{} `json:"batches,omitempty"`
	Findings *struct{} `json:"findings,omitempty"`
	Records  *struct{} `json:"records,omitempty"`
	Count    int       `json:"count"` // of records
}

type alias Plan

// Write writes the plan as JSON: one object, with a line for each element of a long list. Empty lists are
// [], so that readers need not test for null.
func (p *Plan) Write(w io.Writer) error {
	shown := *p
	emptyLists(reflect.ValueOf(&shown).Elem())
	head, err := json.MarshalIndent(header{Format: savedFormat, alias: (*alias)(&shown), Count: len(p.Records)}, "", "  ")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	out.Write(head[:len(head)-len("\n}")])
	err = errors.Join(
		writeList(out, "batches", p.Batches),
		writeList(out, "findings", p.Findings),
		writeList(out, "records", p.Records))
	if err != nil {
		return err
	}
	out.WriteString("\n}\n")
	return out.Flush() // returns the first error of any write
}

func writeList[T any](w *bufio.Writer, name string, list []T) error {
	fmt.Fprintf(w, ",\n  %q: [", name)
	for i := range list {
		line, err := json.Marshal(&list[i])
		if err != nil {
			return err
		}
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteString("\n    ")
		w.Write(line)
	}
	if len(list) > 0 {
		w.WriteString("\n  ")
	}
	w.WriteByte(']')
	return nil
}

func emptyLists(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case !f.CanSet():
		case f.Kind() == reflect.Slice && f.IsNil():
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		case f.Kind() == reflect.Struct && f.Type().PkgPath() == v.Type().PkgPath():
			emptyLists(f)
		}
	}
}

// ReadPlan reads a saved plan. The error wraps [ErrPlanFile], or comes from r.
func ReadPlan(r io.Reader) (*Plan, error) {
	saved := struct {
		Format int    `json:"format"`
		Path   string `json:"path"` // of a dump's znode
		*alias
		Count int `json:"count"`
	}{alias: &alias{}}
	dec := json.NewDecoder(r)
	if err := dec.Decode(&saved); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlanFile, text.PlainJSON(err))
	}
	if saved.Path != "" {
		return nil, fmt.Errorf("%w: it is a dump", ErrPlanFile)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: there is more data after it, at byte %d", ErrPlanFile, dec.InputOffset())
	}
	switch {
	case saved.Format != savedFormat:
		return nil, fmt.Errorf("%w: it has format %d, and this version of mrtq reads format %d", ErrPlanFile, saved.Format, savedFormat)
	case saved.Count != len(saved.Records):
		return nil, fmt.Errorf("%w: it has %d of %d records", ErrPlanFile, len(saved.Records), saved.Count)
	}
	p := (*Plan)(saved.alias)
	if len(p.Settings.ACL) == 0 {
		p.Settings.ACL = nil // open to all
	}
	if err := p.Choices.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlanFile, err)
	}
	return p, nil
}

// Options returns the options with which the plan was made.
func (p *Plan) Options() PlanOptions {
	opt := p.Settings.PlanOptions
	opt.Dialect, opt.Choices, opt.Source, opt.Target = p.Dialect, p.Choices, p.Source, p.Target
	return opt
}

// Differences says how another plan, which was made later, differs from this one in what
// it would do: in its run, its settings or its records. If the run was begun or finished
// since, what was done of it is no difference.
func (p *Plan) Differences(now *Plan) []string {
	var found []string
	differ := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if p.Run != now.Run && !p.IsDone(now) {
		differ("it would be %s, and now it would be %s: another run has begun, or was finished or rolled back, since", p.Run, now.Run)
	}
	if p.Dialect != now.Dialect {
		differ("its dialect is %s, and now it would be %s", p.Dialect, now.Dialect)
	}
	if changes := p.Choices.Changes(now.Choices); changes != "" {
		differ("its choices were changed: %s", changes)
	}
	if was, is := p.Settings.Time, now.Settings.Time; was != is {
		differ("the records' times were read as %s, and now they are read as %s", was, is)
	}
	if !slices.Equal(p.Settings.ACL, now.Settings.ACL) {
		differ("its znodes would get another ACL")
	}
	lines := map[string]*PlanRecord{}
	for i := range p.Records {
		lines[p.Records[i].Path] = &p.Records[i]
	}
	for i := range now.Records {
		r := &now.Records[i]
		was := lines[r.Path]
		delete(lines, r.Path)
		switch {
		case was == nil:
			differ("%s was added to the source", r.Path)
		case was.Hash != r.Hash:
			differ("%s has changed", r.Path)
		case was.isDone(r):
		case was.Action != r.Action || was.State != r.State:
			differ("%s: the plan says %s %s, and now it would say %s %s", r.Path, was.Action, was.State, r.Action, r.State)
		}
	}
	for i := range p.Records {
		if lines[p.Records[i].Path] != nil {
			differ("%s was removed from the source", p.Records[i].Path)
		}
	}
	return found
}

func (r *PlanRecord) isDone(now *PlanRecord) bool {
	return r.Action == ActionCreate && (now.Action == ActionUnchanged || now.Action == ActionRemoved)
}

// IsDone reports whether this plan was carried out: its run is the newest one and done, and
// a plan that was made later has nothing to do. If [Plan.Differences] has none, all records
// are as planned.
func (p *Plan) IsDone(now *Plan) bool {
	return now.Empty() && now.Previous.ID == p.Run && now.Previous.State == RunDone
}
