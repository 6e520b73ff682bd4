// Package simulate runs the decisions of package verify against agents that
// lie, and counts the outcomes. It decides only what a server carries out: which
// agent leases a shard, and what is recorded.
//
// Everything happens at once: an audit is made as soon as it is drawn, and a
// caught agent knows it at once. For agents that lie that is the best case.
package simulate

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/ostraka/ostraka/functions/verify"
)

// Rule is a way to verify.
type Rule string

// The rules. Adaptive is BOINC's adaptive replication.
const (
	Rechecks Rule = "bound"          // a target error, with the server's rechecks
	Replicas Rule = "bound-replicas" // a target error, audited by other agents only
	Quorum2  Rule = "quorum-2"
	Quorum3  Rule = "quorum-3"
	Adaptive Rule = "boinc-adaptive"
)

// Rules lists all rules.
func Rules() []Rule { return []Rule{Rechecks, Replicas, Quorum2, Quorum3, Adaptive} }

// Options say what is simulated.
type Options struct {
	TargetError float64
	// Assumed is the share of hostile agents that the bound assumes, Hostile the
	// share that there is; in the populations of fair agents it is theirs.
	Assumed, Hostile float64
	Populations      []Population
	Rules            []Rule
	Results          int // shards to a cell
	Agents           int
	// Record is how many audits each owner has passed in other jobs of the project,
	// those of hostile ones as well: they were honest there.
	Record int64
	Seed   uint64
}

// MinResults and MaxResults bound the shards to a cell: fewer say nothing, and
// each takes about 100 bytes.
const (
	MinResults = 1000
	MaxResults = 10_000_000
)

// MinAgents and MaxAgents bound the agents: with fewer no replica could be placed
// among those who are left when liars are quarantined.
const (
	MinAgents = 10
	MaxAgents = 10_000
)

// Default gives the options of the tables in the documentation.
func Default() Options {
	return Options{
		TargetError: verify.DefaultTargetError, Assumed: verify.DefaultHostile, Hostile: verify.DefaultHostile,
		Populations: Populations(), Rules: Rules(), Results: 1_000_000, Agents: 100, Seed: 1,
	}
}

// Validate says why options are not usable.
func (o Options) Validate() error {
	if err := (verify.Policy{TargetError: o.TargetError, AssumeHostile: o.Assumed}).Validate(); err != nil {
		return err
	}
	switch {
	case o.TargetError == 0:
		return fmt.Errorf("a target error is needed: %v to %v", verify.MinTargetError, verify.MaxTargetError)
	case !(o.Hostile >= 0 && o.Hostile <= verify.MaxHostile):
		return fmt.Errorf("a share of %v of hostile agents is not between 0 and %v", o.Hostile, verify.MaxHostile)
	case o.Results < MinResults || o.Results > MaxResults:
		return fmt.Errorf("%d results are not between %d and %d", o.Results, MinResults, MaxResults)
	case o.Agents < MinAgents || o.Agents > MaxAgents:
		return fmt.Errorf("%d agents are not between %d and %d", o.Agents, MinAgents, MaxAgents)
	case len(o.Populations) == 0 || len(o.Rules) == 0:
		return fmt.Errorf("no population or no rule is chosen")
	}
	return nil
}

// Named picks populations by their names.
func Named(names []string) ([]Population, error) {
	all := slices.Concat(Populations(), Attacks())
	var chosen []Population
	for _, name := range names {
		i := slices.IndexFunc(all, func(p Population) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no population %q; there are: %s", name, strings.Join(Names(), ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// Names lists the names of the populations.
func Names() []string {
	var names []string
	for _, p := range slices.Concat(Populations(), Attacks()) {
		names = append(names, p.Name)
	}
	return names
}

// Cell is what came of one population under one rule.
type Cell struct {
	Population string `json:"population"`
	Rule       Rule   `json:"rule"`
	Shards     int    `json:"shards"`
	// Executions counts those of agents and of the server, Rechecks the latter.
	Executions int `json:"executions"`
	Rechecks   int `json:"rechecks"`
	// Wrong counts shards whose final answer is wrong.
	Wrong int `json:"wrong"`
	// Incidents counts final results of agents that were caught later.
	Incidents int `json:"incidents"`
	// Reopened counts results that were accepted and taken back; Left those of
	// caught agents that should have been and were not.
	Reopened int `json:"reopened"`
	Left     int `json:"left"`
	Reviews  int `json:"reviews"`
	// Caught and Quarantined count hostile names; the latency to each is the
	// median number of the agent's results from its first lie on.
	Caught       int `json:"caught"`
	Quarantined  int `json:"quarantined"`
	ToCatch      int `json:"to_catch"`
	ToQuarantine int `json:"to_quarantine"`
	// FalselyTainted and FalselyQuarantined count agents that mean well, of Fair.
	Fair               int `json:"fair"`
	FalselyTainted     int `json:"falsely_tainted"`
	FalselyQuarantined int `json:"falsely_quarantined"`
	// FalselyCharged counts those of them against whom something stands at the end.
	FalselyCharged int `json:"falsely_charged"`
	// HostileShare is the part of the results that hostile agents gave.
	HostileShare float64 `json:"hostile_share"`
	// Matter counts shards that matter, where not all do, and WrongMatter those of
	// them whose final answer is wrong.
	Matter      int `json:"matter,omitempty"`
	WrongMatter int `json:"wrong_matter,omitempty"`
	// Excluded counts owners that got no more leases of the job since they gave
	// no answers where others did.
	Excluded int `json:"excluded,omitempty"`
}

// PerShard is the number of executions to a shard.
func (c Cell) PerShard() float64 { return float64(c.Executions) / float64(c.Shards) }

// WrongRate is the share of shards whose final answer is wrong.
func (c Cell) WrongRate() float64 { return float64(c.Wrong) / float64(c.Shards) }

// Run simulates every population under every rule, two at a time.
func Run(o Options) ([]Cell, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("simulating: %w", err)
	}
	cells := make([]Cell, len(o.Populations)*len(o.Rules))
	twoAtATime(len(cells), func(i int) {
		cells[i] = runCell(o, o.Populations[i/len(o.Rules)], o.Rules[i%len(o.Rules)])
	})
	return cells, nil
}

// twoAtATime does n things that have nothing in common. The tests of this package run without the race detector, which would make them ten
// times as long: it sees what runs here in the script of `ostraka simulate`.
func twoAtATime(n int, do func(i int)) {
	var group sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i := range n {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	group.Wait()
}

func runCell(o Options, p Population, rule Rule) Cell {
	w := newWorld(o, p, rule)
	if rule == Adaptive {
		w.runAdaptive()
	} else {
		w.run()
	}
	return w.report()
}

// dice of a cell depend on nothing but its own name and the seed, so that it
// comes out the same whatever else is simulated.
func dice(o Options, p Population, rule Rule) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s under %s", p.Name, rule)
	return rand.New(rand.NewPCG(o.Seed, h.Sum64())) //nolint:gosec // a simulation that comes out the same again wants no secret dice
}
