package main

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
)

// bars are what the chart shows. A bare bar, which is what the server can do, is
// above the bar of mrtq's command.
var bars = []struct {
	what, label string
	ours        bool
}{
	{readSource, "bare read of the source", false},
	{inspect, "mrtq inspect", true},
	{load, "bare load", false},
	{migrate, "mrtq migrate", true},
	{plan, "mrtq plan", true},
	{readACLs, "bare read of the target, with ACLs", false},
	{dump, "mrtq dump", true},
	{readTarget, "bare read of the target", false},
	{verify, "mrtq verify", true},
	{unload, "bare delete of the target", false},
	{rollback, "mrtq rollback", true},
	{byTheBook, "the documented way", false},
}

// These are widths and heights in the chart, in pixels.
const (
	chartWidth = 760
	labelWidth = 240
	valueWidth = 90
	barHeight  = 14
	barStep    = 20
	headHeight = 44
	textSize   = 12
)

// chart draws the records a second on each server as an SVG, which needs no other
// file and suits both a light and a dark page.
func chart(results []result) []byte {
	var b bytes.Buffer
	height := len(results)*(headHeight+len(bars)*barStep) + textSize
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="%d">`+"\n",
		chartWidth, height, chartWidth, height, textSize)
	b.WriteString("<style>text{fill:#24292f}@media(prefers-color-scheme:dark){text{fill:#e6edf3}}.bare{fill:#8c959f}.ours{fill:#1f77b4}</style>\n")
	y := 0
	for _, r := range results {
		fmt.Fprintf(&b, `<text x="0" y="%d" font-weight="bold">%s</text>`+"\n", y+headHeight-22,
			html.EscapeString(fmt.Sprintf("Records a second, server %s: %d records that become %d znodes", r.Backend, r.Records, r.Target)))
		y += headHeight - 12
		most := 0.0
		for _, bar := range bars {
			most = max(most, r.rate(bar.what))
		}
		for _, bar := range bars {
			class, rate := "bare", r.rate(bar.what)
			if bar.ours {
				class = "ours"
			}
			width := max(1, rate/most*(chartWidth-labelWidth-valueWidth))
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, labelWidth-8, y+barHeight-3, html.EscapeString(bar.label))
			fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d"/>`, class, labelWidth, y, width, barHeight)
			fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", labelWidth+width+6, y+barHeight-3, strconv.FormatFloat(rate, 'f', 0, 64))
			y += barStep
		}
		y += 12
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
