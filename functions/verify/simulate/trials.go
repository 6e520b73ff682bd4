package simulate

import (
	"slices"
)

// Trial is a setting of the bench: some populations under some rules, with several
// seeds each.
type Trial struct {
	Name    string
	Options Options
	Seeds   int
	// Beyond says why the policy does not promise its bound here; empty: it does.
	Beyond string
	// Dear says that no more is promised of the number of executions than that they
	// are counted: MaxPerShard is for large jobs with owners of equal speed.
	Dear bool
	// Honest is how many executions a shard takes at most where everybody is honest;
	// 0: nothing is promised.
	Honest float64
}

// With keeps those of its populations that have these names.
func (t Trial) With(names []string) Trial {
	t.Options.Populations = slices.DeleteFunc(slices.Clone(t.Options.Populations), func(p Population) bool { return !slices.Contains(names, p.Name) })
	return t
}

// MaxPerShard is how many executions a shard takes at most in a job of 10^6 shards
// with a tenth of the results hostile, where all owners are as quick as each other
// and a server rechecks.
const MaxPerShard = 1.15

// MaxHonest is how many executions a shard takes at most where 100 owners with a
// record are honest, and each gives 500 results.
const MaxHonest = 1.03

const (
	million  = 1_000_000
	fewer    = 200_000
	seeds    = 8
	smallRun = 400 // jobs to a population: one says nothing
)

// Trials lists what the bench runs; short: a selection of small ones, for which the
// target error is ten times as large, so that agents go through several windows.
func Trials(short bool) []Trial {
	if short {
		return shortTrials()
	}
	base := Default()
	everybody := except(slices.Concat(Populations(), Attacks()), "fast-worst", "fast-end", "fastest-end", "coin", "die", "rounded-noise", "set-order", "clock")
	uncaptured := except(everybody, "captured", "captured-tenth")
	list := []Trial{
		{Name: "a server rechecks, 100 owners of equal speed, 10 hostile", Options: with(base, million, Rechecks, everybody), Seeds: seeds},
		{Name: "no server", Options: owners(with(base, fewer, Replicas, uncaptured), 20), Seeds: seeds, Dear: true},
		{
			Name: "no server, accomplices get nine in ten of all further attempts", Options: with(base, fewer, Replicas, named("captured", "captured-tenth")), Seeds: seeds,
			Beyond: "without a server it must be chance which other owners audit",
		},
		{Name: "one owner of ten is hostile, and the fastest", Options: owners(with(base, fewer, Rechecks, named("fast-worst", "fast-end", "fastest-end")), 10), Seeds: seeds, Dear: true},
		{
			Name: "ten owners of 100 are hostile, and the fastest", Options: with(base, fewer, Rechecks, named("fast-worst", "fast-end", "fastest-end")), Seeds: seeds,
			Beyond: "together they give more than the stated share of the results",
		},
		{Name: "functions that do not give one answer", Options: with(base, 20_000, Rechecks, Unstable()), Seeds: seeds, Dear: true},
		{Name: "the same without a server", Options: with(base, 20_000, Replicas, Unstable()), Seeds: seeds, Dear: true},
	}
	for _, size := range []int{20, 200, 1000} {
		list = append(list, Trial{Name: "small jobs, one owner of ten hostile", Options: owners(with(base, size, Rechecks, small()), 10), Seeds: smallRun, Dear: true})
	}
	for _, size := range []int{1000, 10_000, 50_000} {
		o := with(base, size, Rechecks, recorded())
		o.Record = 100
		t := Trial{Name: "owners with a record", Options: o, Seeds: seeds, Dear: true}
		if size == 50_000 {
			t.Honest = MaxHonest
		}
		list = append(list, t)
	}
	worst := named("worst-rate", "window-end", "colluding-1%", "returning", "returning-worst", "returning-burst", "hold-and-flood")
	for _, share := range []float64{0.05, 0.2, 0.3} {
		o := owners(with(base, fewer, Rechecks, worst), 20)
		o.Assumed, o.Hostile = share, share
		list = append(list, Trial{Name: "another share, assumed and there", Options: o, Seeds: seeds, Dear: true})
	}
	for _, share := range []float64{0.2, 0.3} {
		o := owners(with(base, fewer, Rechecks, worst), 20)
		o.Hostile = share
		list = append(list, Trial{Name: "more than assumed", Options: o, Seeds: seeds, Beyond: "more of the results are hostile than is stated"})
	}
	compared := base
	compared.Rules = []Rule{Quorum2, Quorum3, Adaptive}
	compared.Results, compared.Populations = fewer/2, everybody
	return append(list, Trial{Name: "for comparison: a quorum, and BOINC's adaptive replication", Options: compared, Seeds: 2, Beyond: "no bound is stated"})
}

func shortTrials() []Trial {
	base := Default()
	base.TargetError, base.Agents = 1e-2, 10
	within := except(slices.Concat(Populations(), Attacks()), "fast-worst", "fast-end", "fastest-end", "captured", "captured-tenth", "coin", "die", "rounded-noise", "set-order", "clock")
	return []Trial{
		{Name: "a server rechecks, ten owners of equal speed, one hostile", Options: with(base, 5000, Rechecks, within), Seeds: 1, Dear: true},
		{Name: "no server", Options: with(base, 2000, Replicas, within), Seeds: 1, Dear: true},
		{Name: "one owner of ten is hostile, and the fastest", Options: with(base, 3000, Rechecks, named("fast-worst", "fast-end", "fastest-end")), Seeds: 1, Dear: true},
		{Name: "functions that do not give one answer", Options: with(base, 1000, Rechecks, Unstable()), Seeds: 1, Dear: true},
		{Name: "the same without a server", Options: with(base, 200, Replicas, Unstable()), Seeds: 1, Dear: true},
		{Name: "small jobs, one owner of ten hostile", Options: with(base, 200, Rechecks, small()), Seeds: 10, Dear: true},
		{Name: "owners with a record", Options: recordedShort(), Seeds: 2, Dear: true, Honest: MaxHonest},
	}
}

func recordedShort() Options {
	o := with(Default(), 10_000, Rechecks, recorded())
	o.TargetError, o.Record = 1e-2, 100
	return o
}

// small lists populations for jobs of which each owner does some tens of shards.
func small() []Population {
	return append(
		named("always", "tenth", "worst-rate", "returning-worst", "tail", "colluding-1%", "hold-and-flood"),
		Population{Name: "one-lie", About: "one lie, early", hostile: once(1)},
		Population{Name: "one-lie-returning", About: "one lie under each name, early", hostile: once(1), returning: true},
	)
}

// recorded lists populations for jobs that owners with a record do, none of whom
// fills a window.
func recorded() []Population {
	return append(named("honest", "flaky"), append(small(), named("window-end", "returning", "returning-burst", "trusted-then-lies", "tail-returning")...)...)
}

func with(o Options, results int, rule Rule, populations []Population) Options {
	o.Results, o.Rules, o.Populations = results, []Rule{rule}, populations
	return o
}

func owners(o Options, n int) Options {
	o.Agents = n
	return o
}

// named keeps populations that there are.
func named(names ...string) []Population {
	return slices.DeleteFunc(slices.Concat(Populations(), Attacks()), func(p Population) bool { return !slices.Contains(names, p.Name) })
}

func except(all []Population, names ...string) []Population {
	return slices.DeleteFunc(slices.Clone(all), func(p Population) bool { return slices.Contains(names, p.Name) })
}
