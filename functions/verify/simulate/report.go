package simulate

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// report counts what a cell came to.
func (w *world) report() Cell {
	c := &w.cell
	for n, s := range w.shards {
		if s.answer != right && w.pop.unstable == nil {
			c.Wrong++
		}
		if w.pop.targets > 0 && matters(int32(n), w.pop.targets) {
			c.Matter++
			if s.answer != right {
				c.WrongMatter++
			}
		}
		if s.agent < 0 {
			continue
		}
		switch a := w.names[s.agent]; {
		case a.tainted == 0 || s.accepted > a.tainted:
		case s.final > a.tainted:
			c.Left++
		default:
			c.Incidents++
		}
	}
	var toCatch, toQuarantine []int
	hostile, all := 0, 0
	for _, a := range w.names {
		if all += a.results; !a.fair {
			hostile += a.results
		}
		switch {
		case a.fair:
			c.Fair++
			if a.quarantined {
				c.FalselyQuarantined++
			}
			if w.evidence[a.name].Failed > 0 {
				c.FalselyCharged++
			}
			continue
		case a.caught >= 0:
			c.Caught++
			toCatch = append(toCatch, a.caught-max(0, a.firstLie))
		}
		if a.quarantined {
			c.Quarantined++
			toQuarantine = append(toQuarantine, a.results-max(0, a.firstLie))
		}
	}
	if all > 0 {
		c.HostileShare = float64(hostile) / float64(all)
	}
	c.ToCatch, c.ToQuarantine = median(toCatch), median(toQuarantine)
	return *c
}

func median(of []int) int {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[len(of)/2]
}

// Table writes cells as a Markdown table, which is also easy to read.
func Table(to io.Writer, cells []Cell) error {
	rows := [][]string{{"population", "rule", "executions per shard", "wrong", "first lie to catch", "to quarantine", "reopened", "left", "falsely quarantined"}}
	for _, c := range cells {
		rows = append(rows, []string{
			c.Population, string(c.Rule), fmt.Sprintf("%.3f", c.PerShard()), rate(c.Wrong, c.Shards),
			latency(c.Caught, c.ToCatch), latency(c.Quarantined, c.ToQuarantine),
			fmt.Sprint(c.Reopened), fmt.Sprint(c.Left), fmt.Sprintf("%d of %d", c.FalselyQuarantined, c.Fair),
		})
	}
	_, err := io.WriteString(to, aligned(rows))
	return err
}

// aligned is a Markdown table, whose first row is its head.
func aligned(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	var b strings.Builder
	for i, row := range rows {
		for j, cell := range row {
			fmt.Fprintf(&b, "| %-*s ", width[j], cell)
		}
		b.WriteString("|\n")
		if i == 0 {
			for _, n := range width {
				b.WriteString("|" + strings.Repeat("-", n+2))
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}

func rate(n, of int) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%.2g", float64(n)/float64(of))
}

func latency(agents, results int) string {
	if agents == 0 {
		return "-"
	}
	return fmt.Sprint(results)
}
