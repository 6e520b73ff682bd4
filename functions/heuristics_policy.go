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
	Module string          `json:"module" doc:"A module of the project of the kind heuristic, a built-in one (code-risk)." example:"code-risk"`
	On     HeuristicTarget `json:"on,omitempty" enum:"code" doc:"What it looks at: code, when a version is pushed and before a job of it is dispatched."`
	Params json.RawMessage `json:"params,omitempty" doc:"Parameters of the module, a JSON object."`
	// Required has dispatch wait for it.
	Required bool            `json:"required,omitempty" doc:"Hold the dispatch of code until it has given a score, whatever keeps it from that. Only on code."`
	Rules    []HeuristicRule `json:"rules" doc:"What follows from which score; all that apply do."`
}

// HeuristicRule says what follows from a score.
type HeuristicRule struct {
	At float64         `json:"at" minimum:"0" maximum:"1" doc:"From this score on, 0 to 1." example:"0.5"`
	Do HeuristicAction `json:"do" enum:"flag,review" doc:"flag: mark it. review: a person decides, and nothing is dispatched until then."`
}

// HeuristicTarget is what a heuristic looks at.
type HeuristicTarget string

// The targets.
const (
	OnCode HeuristicTarget = "code"
)

// HeuristicAction is what follows from a score.
type HeuristicAction string

// The actions, each doing more than the one before.
const (
	DoFlag   HeuristicAction = "flag"
	DoReview HeuristicAction = "review"
)

// CodeRisk is the built-in heuristic for code.
const CodeRisk = "code-risk"

const (
	// MaxHeuristics is how many heuristics a project uses: each looks at every file of every version.
	MaxHeuristics = 8
	// MaxHeuristicRules is how many rules one of them has.
	MaxHeuristicRules = 8
)

// DefaultHeuristics are those of projects that say nothing: code is scored when it is pushed, and marked where it should be read.
func DefaultHeuristics() HeuristicsPolicy {
	return HeuristicsPolicy{Use: []HeuristicUse{{Module: CodeRisk, On: OnCode, Rules: []HeuristicRule{{At: 0.5, Do: DoFlag}}}}}
}

// check fills in what the built-in heuristics look at, and refuses what makes no sense.
func (p *HeuristicsPolicy) check() error {
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
		if err := checkName("module", u.Module); err != nil {
			return err
		}
		u.On = cmp.Or(u.On, OnCode)
		switch {
		case u.On != OnCode:
			return refuse("%s is to look at %q; heuristics look at code", u.Module, u.On)
		case seen[u.Module]:
			return refuse("%s is named twice", u.Module)
		case len(u.Rules) < 1 || len(u.Rules) > MaxHeuristicRules:
			return refuse("%s has %d rules; it takes 1 to %d", u.Module, len(u.Rules), MaxHeuristicRules)
		}
		seen[u.Module] = true
		if err := checkParams(u.Params); err != nil {
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
	case r.Do != DoFlag && r.Do != DoReview:
		return fmt.Errorf("a rule of %s says %q; it can be flag or review", module, r.Do)
	}
	return nil
}

// actions are what follows from a score, in the order of what they do.
func (u HeuristicUse) actions(score float64) (list []HeuristicAction) {
	for _, action := range []HeuristicAction{DoFlag, DoReview} {
		if slices.ContainsFunc(u.Rules, func(r HeuristicRule) bool { return r.Do == action && score >= r.At }) {
			list = append(list, action)
		}
	}
	return list
}

// lowest is the score from which anything follows.
func (u HeuristicUse) lowest() float64 {
	low := 1.0
	for _, r := range u.Rules {
		low = min(low, r.At)
	}
	return low
}

// does says whether any rule has this action.
func (u HeuristicUse) does(action HeuristicAction) bool {
	return slices.ContainsFunc(u.Rules, func(r HeuristicRule) bool { return r.Do == action })
}

// on are the heuristics that look at code, or at results.
func (p HeuristicsPolicy) on(target HeuristicTarget) (list []HeuristicUse) {
	for _, u := range p.Use {
		if u.On == target {
			list = append(list, u)
		}
	}
	return list
}
