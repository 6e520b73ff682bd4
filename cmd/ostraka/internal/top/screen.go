package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// barWidth is how wide the bar of a job is, in columns.
const barWidth = 12

// Lines are a sample as text, without an end: heading first, then jobs, projects and agents. No line has the width of a terminal in mind.
func Lines(s Sample) (heading, body []string) {
	heading = append(heading, summary(s))
	for _, r := range s.Remarks {
		heading = append(heading, "! "+r)
	}
	for _, t := range []table{jobs(s.Jobs), projects(s.Projects), agents(s.Agents, !s.Whole)} {
		if len(t.rows) > 0 {
			body = append(append(body, t.lines()...), "")
		}
	}
	if s.More {
		where := "ostraka job list, ostraka agent list and ostraka sandbox list have them"
		if s.Whole {
			where = "ostraka agent list --all and ostraka sandbox list --all have them"
		}
		body = append(body, "there are more than are shown: "+where)
	}
	return heading, body
}

// summary is everything in one line.
func summary(s Sample) string {
	parts := []string{s.Where, s.At.Local().Format("15:04:05")}
	var done, total int64
	var rate float64
	for _, j := range s.Jobs {
		done, total, rate = done+j.Done, total+j.Total, rate+j.Rate
	}
	open := int64(len(s.Jobs))
	for _, p := range s.Projects {
		open += p.Jobs
	}
	parts = append(parts, fmt.Sprintf("jobs open: %d", open))
	if total > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d shards", done, total), perSecond(rate))
	}
	working := 0
	for _, a := range s.Agents {
		if a.works() {
			working++
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("agents at work: %d of %d", working, len(s.Agents))), " · ")
}

func jobs(list []Job) table {
	t := table{headings: []string{"JOB", "FUNCTION", "STATE", "", "DONE", "SHARDS", "RATE", "LEFT"}}
	for _, j := range list {
		state := j.State
		if j.Review > 0 {
			state = fmt.Sprintf("%s, %d to review", state, j.Review)
		}
		t.rows = append(t.rows, []string{shortID(j.ID.String()), j.Function, state, bar(j.Done, j.Total), percent(j.Done, j.Total), fmt.Sprintf("%d/%d", j.Done, j.Total), perSecond(j.Rate), left(j.Left)})
	}
	return t
}

func projects(list []Project) table {
	t := table{headings: []string{"PROJECT", "JOBS", "SHARDS", "FLAGS", "INCIDENTS", "APPROVALS"}}
	for _, p := range list {
		t.rows = append(t.rows, []string{p.Name, fmt.Sprint(p.Jobs), fmt.Sprint(p.Shards), fmt.Sprint(p.Flags), fmt.Sprint(p.Incidents), fmt.Sprint(p.Approvals)})
	}
	return t
}

func agents(list []Agent, evidence bool) table {
	t := table{headings: []string{"AGENT", "STATE", "CPU", "MEMORY"}}
	if evidence {
		t.headings = append(t.headings, "AGREED", "CONTRADICTED")
	}
	t.headings = append(t.headings, "RUNS")
	for _, a := range list {
		cpu, memory := "-", "-"
		if len(a.Boxes) > 0 {
			cpu, memory = used(a.Boxes)
		}
		row := []string{a.Name, a.State, cpu, memory}
		if evidence {
			row = append(row, fmt.Sprint(a.Agreed), fmt.Sprint(a.Contradicted))
		}
		t.rows = append(t.rows, append(row, runs(a)))
	}
	return t
}

// runs is what an agent does, or why it does nothing.
func runs(a Agent) string {
	switch {
	case a.Unheard > 0:
		return "(not heard of for " + left(a.Unheard) + ")"
	case len(a.Boxes) == 0 && a.works():
		return "working"
	case a.Idle != "" && len(a.Boxes) == 0:
		return "(" + a.Idle + ")"
	}
	var texts []string
	for _, b := range a.Boxes {
		text := b.Function
		if b.Shard != nil {
			text = fmt.Sprintf("%s #%d", text, *b.Shard)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// used is what all sandboxes of an agent use together.
func used(boxes []Box) (cpu, memory string) {
	var percent float64
	var bytes int64
	for _, b := range boxes {
		percent, bytes = percent+b.CPU, bytes+b.Memory
	}
	return fmt.Sprintf("%.0f %%", percent), fmt.Sprintf("%d MiB", bytes>>20)
}

// table is rows under headings.
type table struct {
	headings []string
	rows     [][]string
}

// lines align the columns by what a terminal shows, which for some letters is two columns.
func (t table) lines() []string {
	widths := make([]int, len(t.headings))
	all := append([][]string{t.headings}, t.rows...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	lines := make([]string, len(all))
	for n, row := range all {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+2))
		}
		lines[n] = strings.TrimRight(line.String(), " ")
	}
	return lines
}

// bar shows how much is done; a server that says more than all, or less than nothing, gets a full or an empty one.
func bar(done, total int64) string {
	full := 0
	if total > 0 {
		full = int(barWidth * min(max(float64(done)/float64(total), 0), 1))
	}
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}

func percent(done, total int64) string {
	if total == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", 100*done/total)
}

func perSecond(rate float64) string {
	switch {
	case rate == 0:
		return "-"
	case rate >= 10:
		return fmt.Sprintf("%.0f/s", rate)
	default:
		return fmt.Sprintf("%.2g/s", rate)
	}
}

// left is a number of seconds as people say it.
func left(seconds float64) string {
	const tooLong = 1000 * 24 * time.Hour // a guess that far says nothing
	switch d := time.Duration(seconds * float64(time.Second)); {
	case seconds == 0:
		return "-"
	case seconds > tooLong.Seconds():
		return "> 1000 days"
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= time.Hour:
		return d.Round(time.Minute).String()
	default:
		return d.Round(time.Second).String()
	}
}

// shortID is the end of an ID, which differs between jobs that were made one after the other, and which commands take.
func shortID(id string) string { return id[len(id)-8:] }
