package simulate

import (
	"fmt"
	"io"
	"strings"
)

// row is what came of one population under one rule, over all seeds.
type row struct {
	trial      Trial
	population Population
	rule       Rule
	cells      []Cell
}

// Bench runs trials, two cells at a time, and writes a table for each and then
// `name value` lines. It says how many bars were broken where the policy promises
// what they measure.
func Bench(to io.Writer, trials []Trial) (broken int, err error) {
	var sum totals
	for _, t := range trials {
		rows, err := t.run()
		if err != nil {
			return broken, err
		}
		if _, err := fmt.Fprintf(to, "## %s\n\n%s\n", t.title(), t.table(rows)); err != nil {
			return broken, fmt.Errorf("writing a table: %w", err)
		}
		for _, r := range rows {
			sum.add(r)
		}
	}
	_, err = io.WriteString(to, sum.lines())
	return sum.broken, err
}

func (t Trial) title() string {
	o := t.Options
	return fmt.Sprintf("%s: %d shards, %d owners, target error %g, assuming %g and having %g hostile, %d seeds", t.Name, o.Results, o.Agents, o.TargetError, o.Assumed, o.Hostile, t.Seeds)
}

func (t Trial) run() ([]row, error) {
	o := t.Options
	if o.Results >= MinResults { // smaller ones say something over many seeds
		if err := o.Validate(); err != nil {
			return nil, fmt.Errorf("simulating %s: %w", t.Name, err)
		}
	}
	var rows []row
	for _, p := range o.Populations {
		for _, rule := range o.Rules {
			rows = append(rows, row{trial: t, population: p, rule: rule, cells: make([]Cell, t.Seeds)})
		}
	}
	twoAtATime(len(rows)*t.Seeds, func(i int) {
		r, seed, with := rows[i/t.Seeds], i%t.Seeds, o
		with.Seed = o.Seed + uint64(seed)
		r.cells[seed] = runCell(with, r.population, r.rule)
	})
	return rows, nil
}

// summary is a row's figures.
type summary struct {
	mean, worst         float64 // of the shards whose final answer is wrong
	anyWrong            int     // cells with a wrong answer
	executions, dearest float64
	share               float64 // of the results that hostile agents gave
	quarantined         int     // who mean well
	charged, left       int
	matter, wrongMatter int
	excluded            int
}

func (r row) sum() (s summary) {
	n := float64(len(r.cells))
	for _, c := range r.cells {
		s.mean += c.WrongRate() / n
		s.worst = max(s.worst, c.WrongRate())
		s.executions += c.PerShard() / n
		s.dearest = max(s.dearest, c.PerShard())
		s.share += c.HostileShare / n
		s.quarantined += c.FalselyQuarantined
		s.charged += c.FalselyCharged
		s.left += c.Left
		s.matter += c.Matter
		s.wrongMatter += c.WrongMatter
		s.excluded += c.Excluded
		if c.Wrong > 0 {
			s.anyWrong++
		}
	}
	return s
}

// compared says whether the rule is there to be compared with, and promises nothing.
func (r row) compared() bool { return r.rule != Rechecks && r.rule != Replicas }

// broken lists the bars that a row does not keep.
func (r row) broken() (bars []string) {
	s, o := r.sum(), r.trial.Options
	bar := func(broken bool, format string, args ...any) {
		if broken {
			bars = append(bars, fmt.Sprintf(format, args...))
		}
	}
	bar(s.quarantined > 0 && !r.compared(), "%d honest owners quarantined", s.quarantined)
	bar(s.left > 0 && !r.compared(), "%d tainted results left", s.left)
	bar(s.charged > 0 && r.population.unstable != nil, "%d honest owners charged", s.charged)
	if r.trial.Beyond != "" {
		return bars
	}
	bar(s.mean > o.TargetError, "mean above %g", o.TargetError)
	bar(s.worst > o.TargetError && o.Results >= million, "worst cell above %g", o.TargetError)
	bar(s.dearest > MaxPerShard && !r.trial.Dear, "more than %g executions", MaxPerShard)
	bar(r.honestlyDear(s), "more than %g executions though everybody is honest", r.trial.Honest)
	return bars
}

// honestlyDear says whether honest owners alone take more executions than a setting
// promises.
func (r row) honestlyDear(s summary) bool {
	return r.trial.Honest > 0 && r.population.Name == "honest" && s.dearest > r.trial.Honest
}

// says is what the table says of a row's bars.
func (r row) says() string {
	s := r.sum()
	var words []string
	switch bars := r.broken(); {
	case len(bars) > 0:
		words = append(words, "BROKEN: "+strings.Join(bars, ", "))
	case r.compared():
		words = append(words, "-")
	case r.trial.Beyond == "":
		words = append(words, "kept")
	case s.worst > r.trial.Options.TargetError:
		words = append(words, "beyond the promise")
	default:
		words = append(words, "beyond the promise, and kept")
	}
	if s.matter > 0 {
		words = append(words, fmt.Sprintf("%.1f %% of what matters wrong", 100*float64(s.wrongMatter)/float64(s.matter)))
	}
	if s.excluded > 0 {
		words = append(words, fmt.Sprintf("%d owners lent no more", s.excluded))
	}
	return strings.Join(words, "; ")
}

func (t Trial) table(rows []row) string {
	lines := [][]string{{"population", "rule", "hostile results", "wrong: mean", "worst cell", "jobs with any", "executions", "most", "honest quarantined", "left", "bars"}}
	for _, r := range rows {
		s := r.sum()
		lines = append(lines, []string{
			r.population.Name, string(r.rule), fmt.Sprintf("%.1f %%", 100*s.share), number(s.mean), number(s.worst), fmt.Sprintf("%d of %d", s.anyWrong, len(r.cells)),
			fmt.Sprintf("%.3f", s.executions), fmt.Sprintf("%.3f", s.dearest), fmt.Sprint(s.quarantined), fmt.Sprint(s.left), r.says(),
		})
	}
	text := aligned(lines)
	if t.Beyond != "" {
		text = "Beyond the promise: " + t.Beyond + ".\n\n" + text
	}
	return text
}

func number(x float64) string {
	if x == 0 {
		return "0"
	}
	return fmt.Sprintf("%.2g", x)
}

// totals are over all rows with a promise.
type totals struct {
	cells, promised, broken int
	mean, large             float64 // relative to the target error
	executions, honest      float64
	quarantined, left       int
	charged                 int
	beyond                  float64
	rival                   float64
}

func (t *totals) add(r row) {
	s := r.sum()
	t.cells += len(r.cells)
	t.broken += len(r.broken())
	target := r.trial.Options.TargetError
	if r.compared() {
		if r.rule == Adaptive {
			t.rival = max(t.rival, s.mean)
		}
		return
	}
	t.quarantined += s.quarantined
	t.left += s.left
	if r.population.unstable != nil {
		t.charged += s.charged
	}
	if r.trial.Beyond != "" {
		t.beyond = max(t.beyond, s.mean/target)
		return
	}
	t.promised += len(r.cells)
	t.mean = max(t.mean, s.mean/target)
	if r.trial.Options.Results >= million {
		t.large = max(t.large, s.worst/target)
	}
	if !r.trial.Dear {
		t.executions = max(t.executions, s.dearest)
	}
	if r.trial.Honest > 0 && r.population.Name == "honest" {
		t.honest = max(t.honest, s.dearest)
	}
}

func (t *totals) lines() string {
	var b strings.Builder
	line := func(name, format string, value any) { fmt.Fprintf(&b, "%s "+format+"\n", name, value) }
	line("cells", "%d", t.cells)
	line("cells_promised", "%d", t.promised)
	line("bars_broken", "%d", t.broken)
	line("worst_mean_of_target", "%.3f", t.mean)
	if t.large > 0 {
		line("worst_million_of_target", "%.3f", t.large)
	}
	if t.executions > 0 {
		line("most_executions", "%.3f", t.executions)
	}
	if t.honest > 0 {
		line("most_executions_honest_with_a_record", "%.3f", t.honest)
	}
	line("honest_quarantined", "%d", t.quarantined)
	line("honest_charged_for_unstable_functions", "%d", t.charged)
	line("tainted_left", "%d", t.left)
	if t.beyond > 0 {
		line("worst_mean_beyond_the_promise_of_target", "%.3f", t.beyond)
	}
	if t.rival > 0 {
		line("worst_mean_boinc_adaptive", "%.4f", t.rival)
	}
	return b.String()
}
