package threshold

import (
	"fmt"
	"math"
)

// Limits are what a sandbox may use: what percentages are taken of.
type Limits struct {
	CPUPercent     float64 // of one processor
	MemoryBytes    int64
	WorkspaceBytes int64
	Processes      int64
	OutputBytes    int64
}

func (l *Limits) of(m Metric) float64 {
	switch m {
	case CPU:
		return l.CPUPercent
	case Memory:
		return float64(l.MemoryBytes)
	case Workspace:
		return float64(l.WorkspaceBytes)
	case Processes:
		return float64(l.Processes)
	case Output:
		return float64(l.OutputBytes)
	default:
		return 0
	}
}

// Source is somebody's rules.
type Source struct {
	Name  string // such as "the function": it stands in the texts of alerts
	Rules *Rules // nil: none
}

// mark is a threshold in force. At infinity there is none.
type mark struct {
	at   float64
	from string // who set it, and how it was written
}

// Plan is what is in force for one sandbox: of each threshold the strictest that anybody set.
type Plan struct {
	warning, critical map[Metric]mark
	samples           int
}

// Merge makes a plan. A part of a limit that there is not sets nothing.
func Merge(limits Limits, sources ...Source) (Plan, error) {
	p := Plan{warning: map[Metric]mark{}, critical: map[Metric]mark{}}
	for _, s := range sources {
		if s.Rules == nil {
			continue
		}
		if err := s.Rules.Check(); err != nil {
			return Plan{}, fmt.Errorf("reading the thresholds of %s: %w", s.Name, err)
		}
		if n := s.Rules.Samples; n > 0 && (p.samples == 0 || n < p.samples) {
			p.samples = n
		}
		for _, m := range Metrics() {
			pair := s.Rules.pair(m)
			if pair == nil {
				continue
			}
			lower(p.warning, m, "warning", pair.Warning, limits.of(m), s.Name)
			lower(p.critical, m, "critical", pair.Critical, limits.of(m), s.Name)
		}
	}
	if p.samples == 0 {
		p.samples = DefaultSamples
	}
	return p, nil
}

// lower takes a threshold over when it is stricter than the one so far.
func lower(marks map[Metric]mark, m Metric, name, text string, limit float64, source string) {
	b, err := parseBound(m, name, text)
	if err != nil || b == nil {
		return // it was checked before
	}
	at, from := b.value, source
	if b.percent {
		if limit <= 0 {
			return
		}
		at, from = b.value/100*limit, text+" of the limit, "+source
	}
	if now, set := marks[m]; !set || at < now.at {
		marks[m] = mark{at: at, from: from}
	}
}

func (p *Plan) mark(marks map[Metric]mark, m Metric) mark {
	if set, found := marks[m]; found {
		return set
	}
	return mark{at: math.Inf(1)}
}

// Lowest is the value of a metric from which on it matters how exact it is: infinity where there is no threshold.
func (p *Plan) Lowest(m Metric) float64 {
	return min(p.mark(p.warning, m).at, p.mark(p.critical, m).at)
}
