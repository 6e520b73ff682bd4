package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchmath"
)

const (
	// fewest is how many runs each side must have before anything is said: with 4 and 4 of them, the U test can fall below surely just so.
	fewest = 4
	// surely is below which probability a difference is not taken for chance. It is benchstat's.
	surely = 0.05
	// large is how large a difference must be besides: with some fifty figures one in twenty passes the test by chance, and hardly any by so much.
	large = 0.1
)

// samples are values of figures, one for each run.
type samples map[string][]float64

// readSamples reads what an earlier run has printed; other lines are left out.
func readSamples(path string) (samples, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the figures to compare with: %w", err)
	}
	defer f.Close()
	all := samples{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		value, err := strconv.ParseFloat(text, 64)
		if _, unknown := define(name); err == nil && unknown == nil {
			all[name] = append(all[name], value)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the figures to compare with: %w", err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no figures: write them there with make bench RUNS=%d > %s", path, fewest, path)
	}
	return all, nil
}

// compare says how figures differ from those of before.
func compare(w io.Writer, base, now samples) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(out, "figure\tbefore\tnow\tchange\t"); err != nil {
		return err
	}
	for _, d := range definitions {
		before, after := base[d.name], now[d.name]
		if len(before) == 0 || len(after) == 0 {
			continue
		}
		old, fresh := center(before), center(after)
		if _, err := fmt.Fprintf(out, "%s\t%.4g\t%.4g\t%+.1f %%\t%s\n", d.name, old, fresh, 100*(fresh-old)/old, verdict(d, before, after)); err != nil {
			return err
		}
	}
	return out.Flush()
}

func center(values []float64) float64 {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), 0.95).Center
}

// verdict is what may be said of a difference, with benchstat's test (Mann and Whitney's U).
func verdict(d definition, before, after []float64) string {
	if !d.steady() {
		return "this machine's, not compared"
	}
	if len(before) < fewest || len(after) < fewest {
		return fmt.Sprintf("%d and %d runs: too few to tell, RUNS=%d is enough", len(before), len(after), fewest)
	}
	p := benchmath.AssumeNothing.Compare(benchmath.NewSample(before, &benchmath.DefaultThresholds), benchmath.NewSample(after, &benchmath.DefaultThresholds)).P
	old, fresh := center(before), center(after)
	switch {
	case p >= surely || math.Abs(fresh-old) < large*math.Abs(old):
		return fmt.Sprintf("the same (p=%.3f)", p)
	case d.less == (fresh < old):
		return fmt.Sprintf("better (p=%.3f)", p)
	default:
		return fmt.Sprintf("WORSE (p=%.3f)", p)
	}
}
