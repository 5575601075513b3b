package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
)

// ratio says how fast something is in comparison with a yardstick: the sum of the
// yardstick's times, divided by its own time.
type ratio struct {
	what      string
	yardstick []string
	of        string
	goal      float64 // what the project wants to reach, 0 for none
	most      bool    // the ratio should be at most the goal
}

var ratios = []ratio{
	{what: "speed of migrate ÷ speed of a bare read of the source and then a bare load", yardstick: []string{readSource, load}, of: migrate, goal: 0.75},
	{what: "records a second of migrate ÷ jobs a second of the documented way", yardstick: []string{byTheBook}, of: migrate, goal: 100},
	{what: "speed of verify ÷ speed of a bare read of both sides", yardstick: []string{readSource, readTarget}, of: verify, goal: 0.85},
	{what: "speed of plan ÷ speed of migrate", yardstick: []string{migrate}, of: plan, goal: 2},
	{what: "speed of rollback ÷ speed of migrate", yardstick: []string{migrate}, of: rollback, goal: 1},
	{what: "speed of release, with hand-over and verification ÷ speed of migrate", yardstick: []string{migrate}, of: release, goal: 0.8},
	{what: "speed of rollback after the release ÷ speed of migrate", yardstick: []string{migrate}, of: giveBack},
	{what: "speed of dump ÷ speed of the bare read with ACLs", yardstick: []string{readACLs}, of: dump, goal: 0.80},
	{what: "another client's p99 wait during migrate ÷ its p99 wait alone", yardstick: []string{beside}, of: alone, goal: 3, most: true},
}

// median returns the median of f's values. If there are two in the middle, it returns the
// larger.
func median[T any](of []T, f func(T) float64) float64 {
	values := make([]float64, len(of))
	for i, v := range of {
		values[i] = f(v)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// each returns how long something took for one record, or one job, in a round, in seconds.
func (r result) each(what string, round int) float64 {
	count := r.Records
	if what == byTheBook {
		count = r.Jobs
	}
	return r.Samples[what][round].Seconds / float64(count)
}

// rate returns how many records, or jobs, were done in a second.
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

// value returns the median of the rounds' ratios. It does not divide medians, because what
// disturbs one side in a round is likely to disturb the other side in the same round.
func (r result) value(of ratio) float64 {
	return median(r.rounds(), func(round int) float64 {
		sum := 0.0
		for _, what := range of.yardstick {
			sum += r.each(what, round)
		}
		return sum / r.each(of.of, round)
	})
}

// print writes two tables: how long each thing took, and the ratios.
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
		if what == beside || what == alone {
			continue // they come after the table
		}
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
	for _, what := range []string{alone, beside} {
		half := median(r.Samples[what], func(s sample) float64 { return s.Half })
		p99 := median(r.Samples[what], func(s sample) float64 { return s.Seconds })
		fmt.Fprintf(w, "%s: p50 %.2f ms, p99 %.2f ms\n", what, 1000*half, 1000*p99)
	}
	compared := newTable(w)
	compared.AppendHeader(table.Row{"ratio", "is", "wanted"})
	for _, of := range ratios {
		wanted := ""
		if of.goal > 0 {
			wanted = strconv.FormatFloat(of.goal, 'f', 2, 64)
			if of.most {
				wanted = "at most " + wanted
			}
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
