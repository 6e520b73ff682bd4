package graph

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// rollingStep is a workflow with one rolling step over a range.
func rollingStep(bounds, rolling string) []byte {
	return []byte(`name = "w"
[functions]
f = "f"
[[steps]]
name = "s"
type = "map"
function = "f"
range = ` + bounds + "\n" + rolling)
}

func TestWhatARollingStepMayAskFor(t *testing.T) {
	plan := func(bounds, rolling string) (Plan, error) {
		d, err := Parse(rollingStep(bounds, rolling))
		if err != nil {
			return Plan{}, err
		}
		return d.Step("s").Plan(Values{})
	}
	p, err := plan(`{ from = "2^64", length = "10^12", size = 100 }`, `rolling = { ahead = 30, shards = 10 }`)
	require.NoError(t, err)
	require.Equal(t, int64(10), p.Shards)
	require.Equal(t, int64(30), p.Ahead)
	p, err = plan(`{ from = 0, length = "2^127", size = 1 }`, `rolling = {}`)
	require.NoError(t, err)
	require.Equal(t, int64(1024), p.Shards)
	require.Equal(t, int64(4096), p.Ahead)
	for _, c := range []struct{ bounds, rolling, want string }{
		{`{ from = 0, length = "2^127+1", size = 1 }`, `rolling = {}`, "the range has more than 2^127 integers"},
		{`{ from = 0, length = 10 }`, `rolling = {}`, "a rolling step chooses no size by itself"},
		{`{ from = 0, length = 10, size = 0 }`, `rolling = {}`, "the shard size must be at least 1"},
		{`{ from = 9, to = 9, size = 1 }`, `rolling = {}`, "the range is empty"},
		{`{ from = "10^999", length = "9*10^999", size = 1 }`, `rolling = {}`, "2^127"},
		{`{ from = 0, length = 10, size = 1 }`, `rolling = { ahead = 9, shards = 10 }`, "9 shards may be open, and a job has 10"},
		{`{ from = 0, length = 10, size = 1 }`, `rolling = { ahead = 641, shards = 10 }`, "1 to 640 shards"},
		{`{ from = 0, length = 10, size = 1 }`, `rolling = { shards = 10000001 }`, "shards"},
		{`{ from = 0, length = 10, size = 1 }`, `rolling = { shards = 0 }`, "shards"},
		{`{ from = 0, length = 10, size = 1 }`, `rolling = { jobs = 3 }`, `there is no "jobs"`},
	} {
		_, err := plan(c.bounds, c.rolling)
		require.ErrorContains(t, err, c.want, "%s %s", c.bounds, c.rolling)
	}
	_, err = plan(`{ from = 0, length = 10, size = 1 }`, `rolling = { ahead = 640, shards = 10 }`)
	require.NoError(t, err)
	_, err = Parse([]byte(strings.Replace(string(rollingStep("{}", "rolling = {}")), "range = {}", "items = [1]", 1)))
	require.ErrorContains(t, err, "only a range is gone through job by job")
	_, err = Parse([]byte(string(rollingStep(`{ from = 0, length = 10, size = 1 }`, `rolling = {}`)) + `
[[steps]]
name = "c"
type = "check"
needs = ["s"]
when = "steps.s.metrics.shards.total == 10"`))
	require.ErrorContains(t, err, "a rolling step has an answer and no metrics")
}

// TestARollingStepGoesThroughItsRange lets jobs end in any order, finished or not, and has holes tried again.
func TestARollingStepGoesThroughItsRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.Int64Range(1, 5).Draw(t, "shards")
		plan := Plan{
			From: big.NewInt(rapid.Int64Range(-9, 9).Draw(t, "from")), Size: big.NewInt(rapid.Int64Range(1, 3).Draw(t, "size")),
			Shards: shards, Ahead: rapid.Int64Range(shards, 4*shards).Draw(t, "ahead"),
		}
		plan.To = new(big.Int).Add(plan.From, big.NewInt(rapid.Int64Range(1, 400).Draw(t, "length")))
		p := Progression{Plan: plan, Next: plan.From}
		for i := 0; !p.Whole(); i++ {
			if i > 5000 {
				t.Fatalf("it never gets through: %+v", p)
			}
			if a := p.Begin(); a.Kind == PartBegin {
				p = begun(t, p, a)
				continue
			}
			open := 0
			for j, part := range p.Parts {
				if part.State == PartOpen {
					open++
				}
				if part.State == PartHole && rapid.Bool().Draw(t, "retry") {
					p.Parts[j].State = PartAgain
				}
			}
			for j, part := range p.Parts {
				if part.State == PartOpen && rapid.Bool().Draw(t, "ends") {
					p.Parts[j].Ended, p.Parts[j].Finished = true, rapid.IntRange(0, 4).Draw(t, "fails") > 0
				}
			}
			for a := p.Clear(RunRunning); a.Kind != PartNothing; a = p.Clear(RunRunning) {
				p = cleared(p, a)
			}
			if len(p.Parts) > 2*(MaxHoles+MaxRollingJobs)+1 {
				t.Fatalf("%d stretches are kept", len(p.Parts))
			}
		}
		if p.Done().Cmp(new(big.Int).Sub(plan.To, plan.From)) != 0 || !p.Over(true) || p.Begin().Kind != PartNothing {
			t.Fatalf("it is not through: %+v", p)
		}
	})
}

func begun(t *rapid.T, p Progression, a PartAction) Progression {
	r, shards := p.Job(a.First)
	open := shards
	for i, part := range p.Parts {
		if part.State == PartOpen {
			open += part.Shards
		}
		if part.First.Cmp(a.First) == 0 {
			p.Parts[i].State, p.Parts[i].Ended = PartOpen, false
			return p
		}
	}
	if open > p.Ahead {
		t.Fatalf("%d shards are open", open)
	}
	p.Parts = append(p.Parts, Part{First: r.From, Last: r.To, State: PartOpen, Shards: shards})
	p.Next = r.To
	return p
}

func cleared(p Progression, a PartAction) Progression {
	if a.Kind == PartLose {
		p.Parts[a.Part].State = PartHole
		return p
	}
	p.Parts[a.Part].State = PartDone
	var parts []Part
	for _, part := range p.Parts {
		if n := len(parts); n > 0 && part.State == PartDone && parts[n-1].State == PartDone && parts[n-1].Last.Cmp(part.First) == 0 {
			parts[n-1].Last = part.Last
			continue
		}
		parts = append(parts, part)
	}
	p.Parts = parts
	return p
}

func TestHowManyHolesARollingStepHas(t *testing.T) {
	p := Progression{Plan: Plan{From: big.NewInt(0), To: big.NewInt(1000), Size: big.NewInt(1), Shards: 1, Ahead: 1}, Next: big.NewInt(MaxHoles)}
	for i := range int64(MaxHoles) {
		p.Parts = append(p.Parts, Part{First: big.NewInt(i), Last: big.NewInt(i + 1), State: PartHole, Shards: 1})
	}
	require.Equal(t, PartNothing, p.Begin().Kind)
	require.False(t, p.Over(true))
	require.True(t, p.Over(false))
	p.Parts[0].State = PartDone
	require.Equal(t, PartAction{Kind: PartBegin, First: big.NewInt(MaxHoles)}, p.Begin())
}

func TestThePaceOfARollingStep(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var marks []Mark
	done, at := int64(0), began
	for i := range 1000 {
		marks = AddMark(marks, Mark{At: at, Done: big.NewInt(done)})
		require.LessOrEqual(t, len(marks), MaxMarks)
		at = at.Add(10 * time.Second)
		done += 500 + 1000*int64(i%2) // 50 or 150 a second
	}
	require.Equal(t, began, marks[0].At)
	last := marks[len(marks)-1]
	p := PaceOf(marks, big.NewInt(1_000_000), last.At)
	require.InDelta(t, 100, p.PerSecond, 1)
	require.InDelta(t, 10_000, p.Usual.Sub(last.At).Seconds(), 200)
	require.False(t, p.Earliest.After(p.Usual))
	require.False(t, p.Latest.Before(p.Usual))
	require.Zero(t, PaceOf(marks[:1], big.NewInt(1), last.At))
	require.Zero(t, PaceOf(marks, new(big.Int).Lsh(big.NewInt(1), 100), last.At).Usual, "a century and more is told by no date")
	stalled := PaceOf(marks, big.NewInt(1_000_000), last.At.Add(24*time.Hour))
	require.Less(t, stalled.PerSecond, 15.0, "a step that stands still gets slower")
	two := []Mark{{began, big.NewInt(0)}, {began.Add(time.Second), big.NewInt(5)}, {began.Add(2 * time.Second), big.NewInt(20)}}
	p = PaceOf(two, big.NewInt(30), began.Add(2*time.Second))
	require.Equal(t, "2s 3s 6s", fmt.Sprint(p.Earliest.Sub(began.Add(2*time.Second)), p.Usual.Sub(began.Add(2*time.Second)), p.Latest.Sub(began.Add(2*time.Second))))
}
