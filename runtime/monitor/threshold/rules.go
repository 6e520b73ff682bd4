package threshold

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	// DefaultSamples is for how many samples in a row a value must be over a threshold by default: a peak of a second
	// is no reason to kill.
	DefaultSamples = 3
	// MaxSamples is the most that may be asked for: a minute of samples.
	MaxSamples = 60
	// MaxBoundLength is the longest text of a bound, in bytes: 20 digits, a point and a unit.
	MaxBoundLength = 24
)

// Rules are thresholds as people write them. What is left out has none.
type Rules struct {
	CPU       *Pair `json:"cpu,omitempty" toml:"cpu"`
	Memory    *Pair `json:"memory,omitempty" toml:"memory"`
	Workspace *Pair `json:"workspace,omitempty" toml:"workspace"`
	Network   *Pair `json:"network,omitempty" toml:"network"`
	Processes *Pair `json:"processes,omitempty" toml:"processes"`
	Output    *Pair `json:"output,omitempty" toml:"output"`
	Samples   int   `json:"samples,omitempty" toml:"samples" minimum:"0" maximum:"60" doc:"For how many samples, one a second, a value must be over a threshold; 3 when left out."`
}

// Pair is the two thresholds of a metric. Each is a number or a size ("64", "512Mi") or a part of the limit ("90%").
type Pair struct {
	Warning  string `json:"warning,omitempty" toml:"warning" maxLength:"24" example:"80%"`
	Critical string `json:"critical,omitempty" toml:"critical" maxLength:"24" example:"512Mi"`
}

func (r *Rules) pair(m Metric) *Pair { return *r.field(m) }

func (r *Rules) field(m Metric) **Pair {
	switch m {
	case CPU:
		return &r.CPU
	case Memory:
		return &r.Memory
	case Workspace:
		return &r.Workspace
	case Network:
		return &r.Network
	case Processes:
		return &r.Processes
	default:
		return &r.Output
	}
}

// Check refuses rules that cannot be meant.
func (r *Rules) Check() error {
	if r.Samples < 0 || r.Samples > MaxSamples {
		return fmt.Errorf("samples = %d: write 1 to %d, or leave it out for %d", r.Samples, MaxSamples, DefaultSamples)
	}
	for _, m := range Metrics() {
		if p := r.pair(m); p != nil {
			if err := p.check(m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Pair) check(m Metric) error {
	if p.Warning == "" && p.Critical == "" {
		return fmt.Errorf("%s has neither a warning nor a critical threshold: write one, or leave %s out", m, m)
	}
	warning, err := parseBound(m, "warning", p.Warning)
	if err != nil {
		return err
	}
	critical, err := parseBound(m, "critical", p.Critical)
	if err != nil {
		return err
	}
	if warning != nil && critical != nil && warning.percent == critical.percent && warning.value > critical.value {
		return fmt.Errorf("%s.warning = %q is above %s.critical = %q: a warning comes first", m, p.Warning, m, p.Critical)
	}
	return nil
}

// bound is a threshold that was read.
type bound struct {
	value   float64
	percent bool
}

// parseBound reads a threshold; nil where there is none.
func parseBound(m Metric, name, text string) (*bound, error) {
	if text == "" {
		return nil, nil
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%s.%s = %q: %s", m, name, text, fmt.Sprintf(format, args...))
	}
	if len(text) > MaxBoundLength {
		return nil, fmt.Errorf("%s.%s has %d characters, at most %d are allowed", m, name, len(text), MaxBoundLength)
	}
	number, percent := strings.CutSuffix(text, "%")
	if percent && m == Network {
		return nil, bad("the network has no limit to take a part of; write a number of bytes")
	}
	factor := 1.0
	if !percent {
		number, factor = cutUnit(m, number)
	}
	if strings.Trim(number, "0123456789.") != "" {
		return nil, bad("write %s", forms(m))
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsInf(value, 0) {
		return nil, bad("write %s", forms(m))
	}
	if value *= factor; value <= 0 || value > 1<<62 {
		return nil, bad("a threshold is above 0 and at most 2^62")
	}
	return &bound{value, percent}, nil
}

// units are those of sizes, as in the limits of function.toml.
func units() []struct {
	suffix string
	factor float64
} {
	return []struct {
		suffix string
		factor float64
	}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}}
}

func cutUnit(m Metric, text string) (number string, factor float64) {
	if isBytes(m) {
		for _, u := range units() {
			if number, found := strings.CutSuffix(text, u.suffix); found {
				return number, u.factor
			}
		}
	}
	return text, 1
}

func isBytes(m Metric) bool { return m != CPU && m != Processes }

func forms(m Metric) string {
	switch {
	case m == Network:
		return `a size such as "1Mi"`
	case m == CPU:
		return `percents of one processor such as "150", or a part of what there is such as "90%"`
	case isBytes(m):
		return `a size such as "512Mi", or a part of the limit such as "90%"`
	default:
		return `a number such as "64", or a part of the limit such as "90%"`
	}
}

// show writes a value of a metric for people.
func show(m Metric, v float64) string {
	if m == CPU {
		return strconv.FormatFloat(v, 'f', 0, 64) + "% of a processor"
	}
	if !isBytes(m) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', 0, 64) + " bytes"
	for _, u := range units() {
		if v >= u.factor {
			text = strconv.FormatFloat(v/u.factor, 'f', 1, 64) + " " + u.suffix + "B"
		}
	}
	return text
}

// ParseFlag reads one threshold as a flag has it, METRIC.LEVEL=BOUND or samples=N, into rules.
func (r *Rules) ParseFlag(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found {
		return fmt.Errorf("%q: write METRIC.warning=BOUND, METRIC.critical=BOUND or samples=N", text)
	}
	if name == "samples" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("samples=%s: write a number from 1 to %d", value, MaxSamples)
		}
		r.Samples = n
		return nil
	}
	metric, level, _ := strings.Cut(name, ".")
	for _, m := range Metrics() {
		if string(m) == metric && (level == "warning" || level == "critical") {
			p := r.field(m)
			if *p == nil {
				*p = &Pair{}
			}
			if level == "warning" {
				(*p).Warning = value
			} else {
				(*p).Critical = value
			}
			return nil
		}
	}
	return fmt.Errorf("%q: the metrics are cpu, memory, workspace, network, processes and output, each with warning and critical", name)
}
