package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// heldFlags choose holds. hold and release have the same ones.
type heldFlags struct{ only, collections []string }

func (h *heldFlags) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&h.only, "only", nil, "only this `queue`: ingest, accessSmall or accessLarge; can be repeated, and \"\" means none")
	f.StringSliceVar(&h.collections, "collection", nil, "this collection, by its `profile`; can be repeated")
}

// paths are the holds that the flags name. Without flags, they are those of all queues.
func (h *heldFlags) paths() ([]string, error) {
	queues := newqueue.QueueHolds
	if h.only != nil || h.collections != nil {
		queues = nil
		for _, q := range nonEmpty(h.only) {
			queues = append(queues, newqueue.QueueHold(q))
		}
	}
	paths, err := migrate.HoldPaths(queues, h.collections)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return paths, nil
}

type holdCmd struct {
	heldFlags
	by, why, output string
}

func (a *app) holdCmd() *cobra.Command {
	c := &holdCmd{}
	cmd := &cobra.Command{
		Use:   "hold TARGET",
		Short: "hold queues and collections, so that services start no new work",
		Long: `Set holds on all new queues, or only on the queues and collections that you name, all
in one transaction. Services that respect holds start no new work on what is held.
They finish the work that they have started. Each hold says who set it, when, and
why, and mrtq status shows it. If a hold is already set, it does not change. If no
batch belongs to a collection, hold sets the hold anyway, and warns you, because the
name may be misspelt.

mrtq release lifts holds.`,
		Example: `  mrtq hold zk1:2181/new --why maintenance
  mrtq hold zk1:2181/new --only ingest
  mrtq hold zk1:2181/new --collection merritt_content`,
		Args: args("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args[0]) },
	}
	f := cmd.Flags()
	c.flags(f)
	f.StringVar(&c.by, "by", "", "`name` of the person who sets the hold (default your user name and host)")
	f.StringVar(&c.why, "why", "", "`reason` for the hold, for others to read")
	choice(f, &c.output, "output", "o", "format", "table", "json")
	return cmd
}

// holdOutput is the -o json of hold.
type holdOutput struct {
	Set   []migrate.Hold `json:"set"`
	There []migrate.Hold `json:"there"` // were set before
}

func (c *holdCmd) run(ctx context.Context, a *app, target string) error {
	e, err := parseEndpoint("TARGET", target)
	if err != nil {
		return err
	}
	paths, err := c.paths()
	if err != nil {
		return err
	}
	if _, err := a.holds(ctx, e); err != nil { // before a chroot is made
		return failed("hold", target, a.noNewQueue(ctx, e, err))
	}
	stray, err := a.strayCollections(ctx, e, c.collections)
	if err != nil {
		return failed("hold", target, err)
	}
	note := migrate.HoldNote{By: cmp.Or(c.by, whoami()), At: time.Now().UTC().Truncate(time.Second), Why: c.why}
	out := holdOutput{Set: []migrate.Hold{}, There: []migrate.Hold{}}
	err = a.onTarget(ctx, e, func(t *migrate.Target) error {
		set, there, err := t.SetHolds(ctx, paths, note)
		out.Set, out.There = append(out.Set, set...), append(out.There, there...)
		return err
	})
	if err != nil {
		return failed("hold", target, err)
	}
	if c.output == "json" {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		a.table("", holdHeader, append(holdRows(out.Set, "set"), holdRows(out.There, "was there before")...))
	}
	text := fmt.Sprintf("%s set: %s.", count(len(out.Set), "hold", "holds"), holdNames(out.Set))
	if len(out.Set) == 0 {
		text = fmt.Sprintf("nothing to do: %s set before.", count(len(out.There), "hold was", "holds were"))
	}
	if stray != "" {
		a.conclude(attention, "Hold: %s %s", text, stray)
	} else {
		a.conclude(good, "Hold: %s", text)
	}
	return nil
}

// strayCollections names the collections that no batch of the target belongs to. It is
// "" if there are none.
func (a *app) strayCollections(ctx context.Context, e endpoint, collections []string) (string, error) {
	if len(collections) == 0 {
		return "", nil
	}
	known, err := readTarget(ctx, a, e, migrate.ReadCollections)
	if err != nil {
		return "", err
	}
	stray := slices.DeleteFunc(slices.Clone(collections), func(c string) bool { return slices.Contains(known, c) })
	if len(stray) == 0 {
		return "", nil
	}
	here := "No batch here has a collection"
	if len(known) > 0 {
		here = "The collections here: " + firstOf(known, len(known))
	}
	return fmt.Sprintf("No batch here belongs to collection %s: is the name misspelt? %s. To lift the hold: %s", strings.Join(stray, ", "), here, a.command("release", []string{e.text}, newFlag("collection", listWord(stray...)))), nil
}

// whoami is the user name and the host of the person who runs mrtq.
func whoami() string {
	name := os.Getenv("SUDO_USER")
	if u, err := user.Current(); name == "" && err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		return cmp.Or(name, "unknown") + "@" + host
	}
	return cmp.Or(name, "unknown")
}

// holds reads the holds of a target, over a session that can't write.
func (a *app) holds(ctx context.Context, e endpoint) (*migrate.Holds, error) {
	h, err := readTarget(ctx, a, e, migrate.ReadHolds)
	return h, noQueue(err)
}

// noNewQueue is the error of a target without a new queue. It says so if it looks like the
// SOURCE.
func (a *app) noNewQueue(ctx context.Context, e endpoint, err error) error {
	if !errors.Is(err, migrate.ErrNoQueue) {
		return err
	}
	return cmp.Or(a.ifSource(ctx, e, migrate.DefaultQueues()), err)
}

// noQueue adds what to check if there is no queue at an address, and makes the error one
// of exit code 1.
func noQueue(err error) error {
	if errors.Is(err, migrate.ErrNoQueue) {
		return checkError(fmt.Errorf("%w; check the address and its chroot", err))
	}
	return err
}

// onTarget calls do with a target that can be written. If the target is a dump, it
// saves the file at the end, or does not change it if do fails.
func (a *app) onTarget(ctx context.Context, e endpoint, do func(*migrate.Target) error) error {
	if e.file == "" {
		w, err := a.writer(ctx, e)
		if err != nil {
			return err
		}
		defer w.Close()
		return do(migrate.NewTarget(w))
	}
	f, err := a.openFileTarget(ctx, e.file, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := do(f.Target); err != nil {
		return f.unchanged(err)
	}
	return unnamed(f.save(ctx))
}

var holdHeader = []string{"HOLD", "SET BY", "SINCE", "OUTCOME", "WHY"}

func holdRows(holds []migrate.Hold, what string) (rows [][]any) {
	for _, h := range holds {
		since := ""
		if !h.Since.IsZero() {
			since = h.Since.Format(time.RFC3339)
		}
		rows = append(rows, []any{h.Path, cmp.Or(h.By, "others"), since, what, h.Why})
	}
	return rows
}

func holdNames(holds []migrate.Hold) string {
	var names []string
	for _, h := range holds {
		names = append(names, znode.Name(h.Path))
	}
	const most = 6
	if n := len(names) - most; n > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(names, ", ")
}

// pick splits holds into those that satisfy f and the rest.
func pick(holds []migrate.Hold, f func(migrate.Hold) bool) (in, out []migrate.Hold) {
	in, out = []migrate.Hold{}, []migrate.Hold{}
	for _, h := range holds {
		if f(h) {
			in = append(in, h)
		} else {
			out = append(out, h)
		}
	}
	return in, out
}
