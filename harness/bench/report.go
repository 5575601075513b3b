package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
)

// ratio says how quick something is beside a yardstick: the sum of the
// yardstick's times, divided by its own.
type ratio struct {
	what      string
	yardstick []string
	of        string
	bar       float64 // that the project wants to reach, 0 for none
}

var ratios = []ratio{
	{"migrate's sending, of the bare load", []string{load}, sending, 0.90},
	{"migrate, of the bare read of the source and the bare load", []string{readSource, load}, migrate, 0.75},
	{"migrate, times the documented way, for a record and a job", []string{byTheBook}, migrate, 100},
	{"verify, of the bare read of both sides", []string{readSource, readTarget}, verify, 0.85},
	{"plan, times migrate", []string{migrate}, plan, 2},
	{"rollback, times migrate", []string{migrate}, rollback, 1},
	{"rollback, of the bare delete", []string{unload}, rollback, 0},
	{"dump, of the bare read with ACLs", []string{readACLs}, dump, 0.80},
	{"inspect, of the bare read of the source", []string{readSource}, inspect, 0},
}

// median is the middle of what f says of the rounds, the upper one of two.
func median[T any](of []T, f func(T) float64) float64 {
	values := make([]float64, len(of))
	for i, v := range of {
		values[i] = f(v)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// each is what something took for a record, or a job, in one round, in seconds.
func (r result) each(what string, round int) float64 {
	count := r.Records
	if what == byTheBook {
		count = r.Jobs
	}
	return r.Samples[what][round].Seconds / float64(count)
}

// rate is how many records, or jobs, were done in a second.
func (r result) rate(what string) float64 {
	return 1 / median(r.rounds(), func(round int) float64 { return r.each(what, round) })
}

func (r result) rounds() []int {
	rounds := make([]int, len(r.Samples[migrate]))
	for i := range rounds {
		rounds[i] = i
	}
	return rounds
}

// value is the median of the ratio in each round: what disturbs one side of it
// is likely to disturb the other.
func (r result) value(of ratio) float64 {
	return median(r.rounds(), func(round int) float64 {
		sum := 0.0
		for _, what := range of.yardstick {
			sum += r.each(what, round)
		}
		return sum / r.each(of.of, round)
	})
}

// print writes two tables: what each thing takes, and the ratios.
func (r result) print(w io.Writer) error {
	if len(r.Samples[migrate]) == 0 {
		return fmt.Errorf("%s: there are no measurements", r.Backend)
	}
	fmt.Fprintf(w, "%s: %d records, %d znodes, that become %d znodes; medians of %d rounds on %d cores, server and clients together\n",
		r.Backend, r.Records, r.Source, r.Target, len(r.Samples[migrate]), r.Cores)
	figures := newTable(w)
	figures.AppendHeader(table.Row{"what", "seconds", "records/s", "own CPU, ms a record", "peak memory, MB"})
	for _, what := range order {
		samples := r.Samples[what]
		cpu, peak := "", ""
		if s := median(samples, func(s sample) float64 { return s.CPU }); s > 0 {
			cpu = strconv.FormatFloat(1000*s/float64(r.Records), 'f', 3, 64)
		}
		if b := median(samples, func(s sample) float64 { return float64(s.Peak) }); b > 0 {
			peak = strconv.FormatFloat(b/1e6, 'f', 0, 64)
		}
		seconds := median(samples, func(s sample) float64 { return s.Seconds })
		figures.AppendRow(table.Row{what, strconv.FormatFloat(seconds, 'f', 3, 64), strconv.FormatFloat(r.rate(what), 'f', 0, 64), cpu, peak})
	}
	figures.Render()
	compared := newTable(w)
	compared.AppendHeader(table.Row{"ratio", "is", "wanted"})
	for _, of := range ratios {
		wanted := ""
		if of.bar > 0 {
			wanted = strconv.FormatFloat(of.bar, 'f', 2, 64)
		}
		compared.AppendRow(table.Row{of.what, strconv.FormatFloat(r.value(of), 'f', 2, 64), wanted})
	}
	compared.Render()
	_, err := fmt.Fprintln(w)
	return err
}

func newTable(w io.Writer) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	return t
}
