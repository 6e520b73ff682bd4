package graph

import (
	"maps"
	"math/big"
	"slices"

	"github.com/ostraka/ostraka/functions/partition"
)

// The limits of a rolling step.
const (
	// MaxRollingBits is how long the range of a rolling step is: up to 2 to that power integers. Where it begins is bounded as in any range.
	MaxRollingBits = 127
	// MaxRollingJobs is how many jobs of a rolling step are open at a time: a run looks at all of them whenever one ends.
	MaxRollingJobs = 64
	// MaxHoles is how many jobs of a rolling step may have come to nothing before it begins no further one: each is kept until it is tried again.
	MaxHoles = 32
	// defaultAhead is how many jobs are open at a time where a step does not say.
	defaultAhead = 4
)

// Plan is how a rolling step goes through its range: job by job, from the lowest integers on.
type Plan struct {
	From, To *big.Int // [From, To)
	Size     *big.Int // integers of a shard
	Shards   int64    // of a job; the last one may have fewer
	Ahead    int64    // shards that jobs which have not ended have together, at most
	Follows  bool     // its stretches come from another step, with their items
}

// Rolling tells whether a step makes its jobs as it goes, instead of one for its whole range.
func (s Step) Rolling() bool { return s.Map.Rolling != nil || s.Flows() }

// checkRolling refuses what makes no sense whatever the values are.
func (m MapStep) checkRolling(s Step) error {
	if m.Rolling != nil && m.Kind != partition.KindRange {
		return wrong(s.field("rolling"), "give it a range, or leave rolling out", "only a range is gone through job by job")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Rolling)) {
		if name != "ahead" && name != "shards" {
			return wrong(s.field("rolling"), `write for example rolling = { ahead = 4096, shards = 1024 }`, "there is no %s", brief(name))
		}
	}
	return nil
}

// Plan reads what a rolling step asks for, with the values of a run.
func (s Step) Plan(values Values) (p Plan, err error) {
	if s.Flows() {
		p, err = s.Map.Source.of.Plan(values)
		p.Follows = true
		return p, err
	}
	bounds, is := s.Map.Input.(map[string]any)
	if !is {
		return p, wrong(s.field("range"), `write for example { from = "{from}", to = "{to}", size = "10^6" }`, "the range is no table")
	}
	if bounds["size"] == nil {
		return p, wrong(s.field("range.size"), "say how many integers make a shard", "a rolling step chooses no size by itself")
	}
	r, err := filler{s.field("range"), values}.rangeOf(bounds)
	if err != nil {
		return p, err
	}
	p = Plan{From: r.From, To: r.To, Size: r.Size}
	if p.Shards, err = s.rollingNumber("shards", partition.PageSize, partition.MaxShards, values); err != nil {
		return p, err
	}
	if p.Ahead, err = s.rollingNumber("ahead", defaultAhead*p.Shards, MaxRollingJobs*p.Shards, values); err != nil {
		return p, err
	}
	if p.Ahead < p.Shards {
		return p, wrong(s.field("rolling.ahead"), "choose as many shards as a job has, or more", "%d shards may be open, and a job has %d", p.Ahead, p.Shards)
	}
	return p, p.check(s.field("range"))
}

func (p Plan) check(field string) error {
	if p.Size.Sign() > 0 {
		first, _ := p.Job(p.From)
		if err := partitionError(field, first.Validate()); err != nil {
			return err
		}
	} else if err := partitionError(field, (partition.Range{From: p.From, To: p.To, Size: p.Size}).Validate()); err != nil {
		return err
	}
	return p.CheckEnd(field, p.To)
}

// CheckEnd refuses an end of the range that is too far away.
func (p Plan) CheckEnd(field string, to *big.Int) error {
	length := new(big.Int).Sub(to, p.From)
	if length.Cmp(new(big.Int).Lsh(big.NewInt(1), MaxRollingBits)) > 0 {
		return wrong(field, "choose a shorter range", "the range has more than 2^%d integers", MaxRollingBits)
	}
	last := partition.Range{From: new(big.Int).Sub(to, big.NewInt(1)), To: to, Size: p.Size}
	return partitionError(field, last.Validate())
}

// Job is the range of the job that begins at first, and how many shards it has.
func (p Plan) Job(first *big.Int) (partition.Range, int64) {
	to := new(big.Int).Mul(p.Size, big.NewInt(p.Shards))
	if to.Add(to, first); to.Cmp(p.To) > 0 {
		to.Set(p.To)
	}
	r := partition.Range{From: first, To: to, Size: p.Size}
	if r.To.Cmp(r.From) <= 0 {
		return r, 0
	}
	return r, r.Count()
}

func (s Step) rollingNumber(name string, usual, most int64, values Values) (int64, error) {
	given, found := s.Map.Rolling[name]
	if !found {
		return usual, nil
	}
	field := s.field("rolling." + name)
	x, err := filler{field, values}.integer(given)
	if err != nil {
		return 0, err
	}
	if !x.IsInt64() || x.Int64() < 1 || x.Int64() > most {
		return 0, wrong(field, "choose another number", "it is %s, and there are 1 to %d shards", brief(x.String()), most)
	}
	return x.Int64(), nil
}
