package functions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// HeuristicsPolicy is a project's word on what looks at its code, and what follows from that. No finding ever
// accepts anything: it can only make people or machines look again.
type HeuristicsPolicy struct {
	Default bool           `json:"default,omitempty" doc:"What the server does where a project says nothing."`
	Use     []HeuristicUse `json:"use,omitempty" doc:"The heuristics; none: nothing is looked at."`
}

// HeuristicUse is one heuristic and what follows from its scores.
type HeuristicUse struct {
	Module string          `json:"module" doc:"A module of the project of the kind heuristic, or a built-in one: code-risk or anomaly." example:"code-risk"`
	On     HeuristicTarget `json:"on,omitempty" enum:"code,results" doc:"What it looks at: code, when a version is pushed and before a job of it is dispatched, or results, each page of a job when its shards are settled. Left out: code, but results for anomaly."`
	Params json.RawMessage `json:"params,omitempty" doc:"Parameters of the module, a JSON object."`
	// Required has dispatch wait for it.
	Required bool            `json:"required,omitempty" doc:"Hold the dispatch of code until it has given a score, whatever keeps it from that. Only on code."`
	Rules    []HeuristicRule `json:"rules" doc:"What follows from which score; all that apply do."`
}

// HeuristicRule says what follows from a score.
type HeuristicRule struct {
	At float64         `json:"at" minimum:"0" maximum:"1" doc:"From this score on, 0 to 1." example:"0.5"`
	Do HeuristicAction `json:"do" enum:"flag,raise,recheck,review" doc:"flag: mark it. raise: audit more of the results. recheck: have the server execute the shard, or all that code makes be audited. review: a person decides about the shard, or about code, of which nothing is dispatched until then."`
}

// HeuristicTarget is what a heuristic looks at.
type HeuristicTarget string

// The targets.
const (
	OnCode    HeuristicTarget = "code"
	OnResults HeuristicTarget = "results"
)

// HeuristicAction is what follows from a score.
type HeuristicAction string

// The actions, each doing more than the one before.
const (
	DoFlag    HeuristicAction = "flag"
	DoRaise   HeuristicAction = "raise"
	DoRecheck HeuristicAction = "recheck"
	DoReview  HeuristicAction = "review"
)

// heuristicActions are all of them, in that order.
func heuristicActions() []HeuristicAction {
	return []HeuristicAction{DoFlag, DoRaise, DoRecheck, DoReview}
}

// The built-in heuristics: for code, and for results.
const (
	CodeRisk = "code-risk"
	Anomaly  = "anomaly"
)

const (
	// MaxHeuristics is how many heuristics a project uses, and a job: each looks at every file of every version, or at every result.
	MaxHeuristics = 8
	// MaxHeuristicRules is how many rules one of them has.
	MaxHeuristicRules = 8
)

// DefaultHeuristics are those of projects that say nothing: code is scored when it is pushed, and marked where it should be read.
func DefaultHeuristics() HeuristicsPolicy {
	return HeuristicsPolicy{Use: []HeuristicUse{{Module: CodeRisk, On: OnCode, Rules: []HeuristicRule{{At: 0.5, Do: DoFlag}}}}}
}

// Check fills in what the built-in heuristics look at, and refuses what makes no sense.
func (p *HeuristicsPolicy) Check() error {
	refuse := func(format string, args ...any) error {
		return Invalid("bad_heuristics", fmt.Sprintf(format, args...), "docs/modules.md shows what a policy looks like")
	}
	if p.Default && len(p.Use) > 0 {
		return refuse("the default is asked for, and something else")
	}
	if len(p.Use) > MaxHeuristics {
		return refuse("a project uses at most %d heuristics, these are %d", MaxHeuristics, len(p.Use))
	}
	seen := map[string]bool{}
	for i := range p.Use {
		u := &p.Use[i]
		if err := CheckName("module", u.Module); err != nil {
			return err
		}
		u.On = cmp.Or(u.On, usualTarget(u.Module))
		switch {
		case u.On != OnCode && u.On != OnResults:
			return refuse("%s is to look at %q; heuristics look at code or results", u.Module, u.On)
		case u.Module == CodeRisk && u.On != OnCode, u.Module == Anomaly && u.On != OnResults:
			return refuse("%s does not look at %s", u.Module, u.On)
		case u.Required && u.On != OnCode:
			return refuse("%s is required: only dispatch waits for a score, not results", u.Module)
		case seen[u.same()]:
			return refuse("%s is named twice with the same parameters", u.Module)
		case len(u.Rules) < 1 || len(u.Rules) > MaxHeuristicRules:
			return refuse("%s has %d rules; it takes 1 to %d", u.Module, len(u.Rules), MaxHeuristicRules)
		}
		seen[u.same()] = true
		if err := CheckParams(u.Params); err != nil {
			return err
		}
		for _, r := range u.Rules {
			if err := r.check(u.Module); err != nil {
				return refuse("%v", err)
			}
		}
	}
	return nil
}

func (r HeuristicRule) check(module string) error {
	switch {
	case !(r.At >= 0 && r.At <= 1):
		return fmt.Errorf("a rule of %s begins at %v; scores are 0 to 1", module, r.At)
	case !slices.Contains(heuristicActions(), r.Do):
		return fmt.Errorf("a rule of %s says %q; it can be one of %v", module, r.Do, heuristicActions())
	}
	return nil
}

// same is what two uses of one heuristic share that would give the same scores.
func (u HeuristicUse) same() string { return u.Module + " " + string(u.On) + " " + string(u.Params) }

// usualTarget is what a heuristic looks at where nothing is said.
func usualTarget(module string) HeuristicTarget {
	if module == Anomaly {
		return OnResults
	}
	return OnCode
}

// Actions are what follows from a score, in the order of what they do.
func (u HeuristicUse) Actions(score float64) (list []HeuristicAction) {
	for _, action := range heuristicActions() {
		if slices.ContainsFunc(u.Rules, func(r HeuristicRule) bool { return r.Do == action && score >= r.At }) {
			list = append(list, action)
		}
	}
	return list
}

// Lowest is the score from which anything follows.
func (u HeuristicUse) Lowest() float64 {
	low := 1.0
	for _, r := range u.Rules {
		low = min(low, r.At)
	}
	return low
}

// Does says whether any rule has this action.
func (u HeuristicUse) Does(action HeuristicAction) bool {
	return slices.ContainsFunc(u.Rules, func(r HeuristicRule) bool { return r.Do == action })
}

// On are the heuristics that look at code, or at results.
func (p HeuristicsPolicy) On(target HeuristicTarget) (list []HeuristicUse) {
	for _, u := range p.Use {
		if u.On == target {
			list = append(list, u)
		}
	}
	return list
}

// ExternalModel is the name by which a policy asks the operator's external model, instead of a module's.
const ExternalModel = "external-model"
