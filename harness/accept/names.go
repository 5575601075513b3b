package accept

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mrtq/harness/accept/internal/runner"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// What a step names must exist. The names of the groups in its pattern say what each parameter is, and kindsOfNames has the check of
// each. What its words refer to without a parameter, such as "the batch", is listed behind its function, and things has the
// check. So a typing error is an error of the step, whatever the step would do with it.

// kindsOfNames says how a parameter of a step is checked, by the name of its group. with are the step's other parameters.
var kindsOfNames = map[string]func(w *world, name string, with map[string]string) error{
	"state": func(w *world, name string, with map[string]string) error {
		kind, _, _ := strings.Cut(with["item"]+with["kind"], " ")
		return stateIn(kind, name, w.dialect)
	},
	"states": func(w *world, list string, with map[string]string) error {
		if list == "no state" {
			return nil
		}
		return each(list, func(name string) error { return stateIn(with["kind"], name, w.dialect) })
	},
	"job_state": func(w *world, name string, _ map[string]string) error { return stateIn("job", name, w.dialect) },
	"job_states": func(w *world, list string, _ map[string]string) error {
		return each(list, func(name string) error { return stateIn("job", name, w.dialect) })
	},
	"batch_state":   func(w *world, name string, _ map[string]string) error { return stateIn("batch", name, w.dialect) },
	"request_state": func(w *world, name string, _ map[string]string) error { return stateIn("request", name, w.dialect) },
	"last_state":    func(w *world, name string, _ map[string]string) error { return lastState(name, newqueue.Dialects...) },
	"last_here":     func(w *world, name string, _ map[string]string) error { return lastState(name, w.dialect) },
	"last_mrt_zk":   func(w *world, name string, _ map[string]string) error { return lastState(name, newqueue.MrtZK) },
	"at": func(w *world, name string, with map[string]string) error { // where an administrator acquires or releases it
		kind, _, _ := strings.Cut(with["item"], " ")
		return stateIn(kind, name, w.dialect)
	},
	"target": func(w *world, name string, with map[string]string) error {
		return stateIn(w.acquiredKind(), name, w.dialect)
	},
	"folder": func(w *world, name string, _ map[string]string) error {
		var all []string
		for _, f := range newqueue.BatchFolders {
			all = append(all, strings.TrimPrefix(string(f), "batch-"))
		}
		return oneOf("a folder of a batch's states", name, all)
	},
	"item": func(w *world, name string, _ map[string]string) error {
		_, err := w.path(name)
		return err
	},
	"job": func(w *world, name string, _ map[string]string) error { return w.jobsExist(name) },
	"jobs": func(w *world, list string, _ map[string]string) error {
		return w.jobsExist(strings.TrimPrefix(list, none))
	},
	"new_job":  func(w *world, name string, _ map[string]string) error { return w.jobsAreNew(name) },
	"new_jobs": func(w *world, list string, _ map[string]string) error { return w.jobsAreNew(list) },
	"items": func(w *world, list string, with map[string]string) error {
		return each(list, func(name string) error { _, err := w.path(with["kind"] + " " + name); return err })
	},
	"lock": func(w *world, at string, _ map[string]string) error {
		var folders []string
		for _, folder := range append(slices.Clone(startFolders), w.localIDs) {
			if strings.HasPrefix(folder, "/locks/") {
				folders = append(folders, folder)
			}
		}
		if err := oneOf("a folder of locks", path.Dir(at), folders); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		return nil
	},
	"why": func(_ *world, why string, _ map[string]string) error {
		return oneOf("a reason", why, slices.Sorted(maps.Keys(refusals)))
	},
}

// things says how something is checked that a step refers to without a parameter. Others are items, such as "batch".
var things = map[string]func(w *world) error{
	"an act": func(w *world) error {
		if w.want == nil {
			return fmt.Errorf("nothing was done before: expected a When")
		}
		return nil
	},
	"a table": func(w *world) error {
		if len(w.jobs) == 0 {
			return fmt.Errorf("the scenario has no table of jobs that a worker creates")
		}
		return nil
	},
	"a submission": func(w *world) error {
		if w.uuid == "" {
			return fmt.Errorf("the scenario has no submission")
		}
		return nil
	},
	"a worker": func(w *world) error { return w.hasAcquired("worker") },
	"a watcher": func(w *world) error {
		if !w.last.watched {
			return fmt.Errorf("no watcher waited before")
		}
		return nil
	},
}

func (w *world) checked(step runner.Step) func(pattern string, f any, refersTo ...string) {
	return func(pattern string, f any, refersTo ...string) {
		names := groupsOf(pattern)
		function := reflect.ValueOf(f)
		step(pattern, reflect.MakeFunc(checkedType(function.Type()), func(args []reflect.Value) []reflect.Value {
			err := w.check(names, args, refersTo)
			if err == nil {
				if out := function.Call(args); len(out) > 0 {
					err, _ = out[0].Interface().(error)
				}
			}
			out := reflect.New(errorType).Elem()
			if err != nil {
				out.Set(reflect.ValueOf(err))
			}
			return []reflect.Value{out}
		}).Interface())
	}
}

var errorType = reflect.TypeFor[error]()

func checkedType(t reflect.Type) reflect.Type {
	var in []reflect.Type
	for i := range t.NumIn() {
		in = append(in, t.In(i))
	}
	return reflect.FuncOf(in, []reflect.Type{errorType}, false)
}

// groups has the names of the groups of each pattern, because each scenario defines all steps again.
var groups sync.Map

func groupsOf(pattern string) []string {
	names, known := groups.Load(pattern)
	if !known {
		names = regexp.MustCompile(pattern).SubexpNames()[1:]
		groups.Store(pattern, names)
	}
	return names.([]string)
}

func isStep(text string) bool {
	return slices.ContainsFunc(steps(), func(step *regexp.Regexp) bool { return step.MatchString(text) })
}

var steps = sync.OnceValue(func() (all []*regexp.Regexp) {
	(&world{}).register(func(pattern string, _ any) { all = append(all, regexp.MustCompile("^"+pattern+"$")) })
	return all
})

func (w *world) check(names []string, args []reflect.Value, refersTo []string) error {
	with := map[string]string{}
	for i, name := range names {
		if name != "" {
			with[name] = args[i].String()
		}
	}
	for _, thing := range refersTo {
		if check, ok := things[thing]; !ok {
			if _, err := w.path(thing); err != nil {
				return err
			}
		} else if err := check(w); err != nil {
			return err
		}
	}
	for _, name := range names {
		if name == "" || name == "kind" || with[name] == "" { // an optional one is missing
			continue
		}
		kind := strings.TrimRight(name, "0123456789") // a group's name is unique in its pattern
		if err := kindsOfNames[kind](w, with[name], with); err != nil {
			return err
		}
	}
	return nil
}

func stateIn(kind, name string, dialects ...newqueue.Dialect) error {
	var all []string
	for _, d := range dialects {
		for _, state := range states.States(entityOf(kind), string(d)) {
			if !slices.Contains(all, state) {
				all = append(all, state)
			}
		}
	}
	return oneOf("a state of a "+kind, name, all)
}

func lastState(name string, dialects ...newqueue.Dialect) error {
	if name == none {
		return nil
	}
	return stateIn("job", name, dialects...)
}

func oneOf(what, name string, all []string) error {
	if slices.Contains(all, name) {
		return nil
	}
	return fmt.Errorf("%s is not %s: expected one of %s", name, what, strings.Join(all, ", "))
}

func each(list string, check func(name string) error) error {
	for _, name := range strings.Fields(list) {
		if err := check(name); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) jobsExist(list string) error {
	return each(list, func(name string) error { _, err := w.path("job " + name); return err })
}

func (w *world) jobsAreNew(list string) error {
	var before []string
	return each(list, func(name string) error {
		if slices.Contains(before, name) {
			return fmt.Errorf("the job %s is listed twice", name)
		}
		before = append(before, name)
		return w.isNew("job " + name)
	})
}

// isNew expects a name that the scenario has not used, such as "job" or "job A".
func (w *world) isNew(name string) error {
	if kind, letter, named := strings.Cut(name, " "); named && kind != "unrelated" && !oneLetter.MatchString(letter) {
		return fmt.Errorf("%s is not the name of a %s: expected a capital letter", letter, kind)
	}
	if at, used := w.names[name]; used {
		return fmt.Errorf("the scenario already has the %s, %s", name, at)
	}
	return nil
}

var oneLetter = regexp.MustCompile(`^[A-Z]$`)

func (w *world) path(name string) (string, error) {
	if p, ok := w.names[name]; ok {
		return p, nil
	}
	has := slices.DeleteFunc(slices.Sorted(maps.Keys(w.names)), func(name string) bool { return strings.HasPrefix(name, "unrelated ") })
	if len(has) == 0 {
		return "", fmt.Errorf("the scenario has no %s, and nothing else", name)
	}
	return "", fmt.Errorf("the scenario has no %s: it has the %s", name, strings.Join(has, ", the "))
}

func (w *world) known(name string) (*actor, error) {
	if a, ok := w.actors[name]; ok {
		return a, nil
	}
	return nil, fmt.Errorf("the scenario has no %s yet: it has %s", name, strings.Join(slices.Sorted(maps.Keys(w.actors)), ", "))
}

func (w *world) hasAcquired(name string) error {
	a, err := w.known(name)
	if err == nil && a.has == "" {
		err = fmt.Errorf("the %s has acquired nothing", name)
	}
	return err
}

func (w *world) acquiredKind() string {
	if a := w.actors["worker"]; a != nil {
		return kindOf(a.has)
	}
	return ""
}
