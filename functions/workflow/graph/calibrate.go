package graph

import (
	"maps"
	"math/big"
	"slices"

	"github.com/ostraka/ostraka/functions/partition"
)

// Calibration has the size of a step's shards be chosen by how long those of a step before it took, on the agents that are there.
type Calibration struct {
	By      string // the step that was measured
	Seconds int64  // that a shard is to take
}

// The limits of a calibration.
const (
	// usualSeconds is how long a shard is to take where a step does not say.
	usualSeconds = 60
	// MaxCalibratedSeconds is the longest that a shard may be made to take.
	MaxCalibratedSeconds = 3600
	// MaxCalibratedGrowth is how many times as large as the shards that were measured a shard may be made: what a few integers took says little
	// of many, and agents state their times themselves, so that some who state none must not have shards made that run for a day.
	MaxCalibratedGrowth = 1000
)

// calibration reads calibrate = { by = "STEP", seconds = 60 }; nil: there is none.
func (t stepTable) calibration(s Step) (*Calibration, error) {
	if t.Calibrate == nil {
		return nil, nil
	}
	const hint = `write for example calibrate = { by = "trial", seconds = 60 }`
	if t.Range == nil || t.Rolling != nil {
		return nil, wrong(s.field("calibrate"), "give it a range that does not roll, or leave it out", "only the shards of a range, in one job, are made as long as they should be")
	}
	c := &Calibration{Seconds: usualSeconds}
	for _, name := range slices.Sorted(maps.Keys(t.Calibrate)) {
		var is bool
		switch name {
		case "by":
			c.By, is = t.Calibrate[name].(string)
		case "seconds":
			c.Seconds, is = t.Calibrate[name].(int64)
			is = is && c.Seconds >= 1 && c.Seconds <= MaxCalibratedSeconds
		default:
			return nil, wrong(s.field("calibrate"), hint, "besides by and seconds there is no %s", brief(name))
		}
		if !is {
			return nil, wrong(s.field("calibrate."+name), hint, "by is the name of a step, and seconds an integer from 1 to %d", MaxCalibratedSeconds)
		}
	}
	if c.By == "" {
		return nil, wrong(s.field("calibrate.by"), hint, "there is no step whose shards are measured")
	}
	return c, nil
}

// checkCalibrations wants the steps by which others are calibrated to come before them, and to run the same function over a range.
func (d *Definition) checkCalibrations() error {
	for _, s := range d.Steps {
		c := s.Map.Calibrate
		if c == nil {
			continue
		}
		by := d.Step(c.By)
		switch {
		case !slices.Contains(d.Before(s), c.By):
			return wrong(s.field("calibrate.by"), "write it into needs", "the step %s does not come before", brief(c.By))
		case by.Type != StepMap || by.Map.Kind != partition.KindRange || by.Rolling():
			return wrong(s.field("calibrate.by"), "name a step of the type map with a range that does not roll", "the step %s has no shards of integers", brief(c.By))
		case by.Map.Function != s.Map.Function:
			return wrong(s.field("calibrate.by"), "let both run one function", "the step %s runs another function", brief(c.By))
		}
	}
	return nil
}

// calibrates tells whether the size of the shards is measured: where it is 0 or left out. The size of r stands for it until then.
func (s Step) calibrates(r *partition.Range, bounds map[string]any) bool {
	if s.Map.Calibrate == nil || bounds["size"] != nil && r.Size.Sign() != 0 {
		return false
	}
	r.Size = big.NewInt(1)
	if r.To.Cmp(r.From) > 0 {
		r.Size = partition.ChooseSize(r.From, r.To)
	}
	return true
}

// Size is how many integers of a range take as long as a shard is to take, where so many took so many seconds, more than 0: in two digits, so
// that people can read it, and no more than MaxCalibratedGrowth times as many. No range has more shards than a job may have.
func (c Calibration) Size(r partition.Range, integers *big.Int, seconds float64) *big.Int {
	length := new(big.Int).Sub(r.To, r.From)
	least := new(big.Int).Add(length, big.NewInt(partition.MaxShards-1))
	least.Quo(least, big.NewInt(partition.MaxShards))
	factor := min(float64(c.Seconds)/seconds, MaxCalibratedGrowth)
	size, _ := new(big.Float).Mul(new(big.Float).SetInt(integers), big.NewFloat(factor)).Int(nil)
	size = twoDigits(size)
	if size.Cmp(length) > 0 {
		size.Set(length)
	}
	if size.Cmp(least) < 0 {
		size.Set(least)
	}
	return size
}

// twoDigits rounds down to two digits and zeros.
func twoDigits(n *big.Int) *big.Int {
	unit, ten := big.NewInt(1), big.NewInt(10)
	for most := big.NewInt(99); new(big.Int).Quo(n, unit).Cmp(most) > 0; {
		unit.Mul(unit, ten)
	}
	return n.Mul(new(big.Int).Quo(n, unit), unit)
}
