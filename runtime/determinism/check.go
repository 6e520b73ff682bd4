package determinism

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ostraka/ostraka/runtime/harness"
)

// MaxSamples is how many shards one check runs: their results are held in memory.
const MaxSamples = 1000

// Sample is a shard to run.
type Sample struct {
	Shard int64
	Input []byte // JSON
}

// Session runs the shards of one lease.
type Session interface {
	Run(ctx context.Context, shard int64, input []byte) (harness.Result, error)
	Close() error
}

// Opener opens a session for the function that is checked.
type Opener func(ctx context.Context, settings harness.Settings) (Session, error)

// Check runs samples under changing circumstances.
type Check struct {
	Open    Opener
	Samples []Sample
	// Progress, if set, hears how many runs of how many are done; the second number grows when something differs.
	Progress func(done, total int)
}

// runs counts the runs of one check.
type runs struct{ done, total int }

// Run runs the samples and compares. An error means that the samples could not be run; whatever the function does is in the report.
func (c Check) Run(ctx context.Context) (Report, error) {
	if len(c.Samples) == 0 || len(c.Samples) > MaxSamples {
		return Report{}, fmt.Errorf("checking: %d samples: give 1 to %d", len(c.Samples), MaxSamples)
	}
	count := &runs{total: 2 * len(c.Samples)}
	first, err := c.pass(ctx, count, circumstances{})
	if err != nil {
		return Report{}, err
	}
	second, err := c.pass(ctx, count, everything())
	if err != nil {
		return Report{}, err
	}
	report := c.compare(first, second)
	if report.Differing == 0 {
		return report, nil
	}
	return report, c.diagnose(ctx, count, first, &report)
}

// compare makes the report of two passes.
func (c Check) compare(first, second []harness.Result) Report {
	report := Report{Interpreter: first[0].Interpreter, Isolation: first[0].Isolation}
	for n, sample := range c.Samples {
		a, b := first[n], second[n]
		report.Used.add(a)
		report.Used.add(b)
		shard := Shard{Shard: sample.Shard, Input: string(sample.Input), Status: a.Status, Exception: a.Exception, Differences: compare(a, b)}
		shard.OnlyOrder = len(shard.Differences) > 0 && sameButForOrder(a, b)
		shard.StdoutDiffers = a.StdoutDigest != b.StdoutDigest
		if len(shard.Differences) > 0 {
			report.Differing++
		}
		if a.Status != harness.StatusOK {
			report.Failing++
		}
		report.Shards = append(report.Shards, shard)
	}
	return report
}

// diagnose makes each change alone and says which of them makes a shard differ.
func (c Check) diagnose(ctx context.Context, count *runs, first []harness.Result, report *Report) error {
	all := factors()
	count.total += len(all) * len(c.Samples)
	for _, f := range all {
		again, err := c.pass(ctx, count, f.circumstances)
		if err != nil {
			return err
		}
		for n := range report.Shards {
			shard := &report.Shards[n]
			if len(shard.Differences) > 0 && len(compare(first[n], again[n])) > 0 {
				shard.Causes = append(shard.Causes, f.cause)
			}
		}
	}
	for n := range report.Shards {
		report.Shards[n].settleCauses()
	}
	return nil
}

// pass runs every sample once. The results are in the order of the samples.
func (c Check) pass(ctx context.Context, count *runs, how circumstances) ([]harness.Result, error) {
	results := make([]harness.Result, len(c.Samples))
	for _, batch := range how.batches(len(c.Samples)) {
		if err := c.batch(ctx, count, how.settings, batch, results); err != nil {
			return nil, fmt.Errorf("checking: %w", err)
		}
	}
	return results, nil
}

// batch runs some samples in one session.
func (c Check) batch(ctx context.Context, count *runs, settings harness.Settings, batch []int, results []harness.Result) (err error) {
	session, err := c.Open(ctx, settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	for _, n := range batch {
		if results[n], err = session.Run(ctx, c.Samples[n].Shard, c.Samples[n].Input); err != nil {
			return err
		}
		count.done++
		if c.Progress != nil {
			c.Progress(count.done, count.total)
		}
	}
	return nil
}

// circumstances are what a result must not depend on.
type circumstances struct {
	settings harness.Settings
	shuffled bool // the opposite order, in sessions of different sizes
}

const (
	// otherHashSeed is any that agents do not use.
	otherHashSeed = 20011
	// otherTimeZone is far from UTC, on no full hour, and needs no file that a sandbox has not.
	otherTimeZone = "OSTRAKA-05:45"
)

func everything() circumstances {
	return circumstances{settings: harness.Settings{HashSeed: otherHashSeed, TimeZone: otherTimeZone}, shuffled: true}
}

// batches cut the samples into sessions: all in one, or, shuffled, the last first in sessions of 1, 2, 3, … so that a shard has other
// neighbours and another place.
func (c circumstances) batches(samples int) (all [][]int) {
	order := make([]int, samples)
	for n := range order {
		order[n] = n
	}
	if !c.shuffled {
		return [][]int{order}
	}
	slices.Reverse(order)
	for size := 1; len(order) > 0; size++ {
		size = min(size, len(order))
		all, order = append(all, order[:size]), order[size:]
	}
	return all
}

// factor is one change alone.
type factor struct {
	cause Cause
	circumstances
}

// factors begin with no change at all, twice: what is random is sometimes the same by chance.
func factors() []factor {
	return []factor{
		{cause: CauseUnstable},
		{cause: CauseUnstable},
		{CauseHashSeed, circumstances{settings: harness.Settings{HashSeed: otherHashSeed}}},
		{CauseTimeZone, circumstances{settings: harness.Settings{TimeZone: otherTimeZone}}},
		{CauseNeighbours, circumstances{shuffled: true}},
	}
}
