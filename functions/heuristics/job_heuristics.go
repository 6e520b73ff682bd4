package heuristics

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// ChooseHeuristics pins the heuristics for a job's results: those of the project's policy, which cannot be removed, and what the request
// adds, or else the function. Each is tried with its parameters.
func (s *Service) ChooseHeuristics(ctx context.Context, project uuid.UUID, policy functions.HeuristicsPolicy, want *functions.HeuristicsPolicy, m bundle.Manifest, pins functions.ModulePins) (list []functions.HeuristicRef, err error) {
	further, err := jobHeuristics(want, m)
	if err != nil {
		return nil, err
	}
	own := policy.On(functions.OnResults)
	for i, u := range slices.Concat(own, further) {
		of := pins
		if i < len(own) {
			of = nil // the project's policy is no part of a workflow
		}
		pinned, err := s.tryHeuristic(ctx, project, u, of)
		if err != nil {
			return nil, err
		}
		list = withHeuristic(list, functions.HeuristicRef{Module: u.Module, Digest: pinned.Digest, Params: u.Params, Rules: u.Rules})
	}
	if len(list) > functions.MaxHeuristics {
		return nil, functions.Invalid("bad_heuristics", fmt.Sprintf("a job has at most %d heuristics, with those of its project; these are %d", functions.MaxHeuristics, len(list)), "leave some out")
	}
	return list, nil
}

// jobHeuristics are those that the request adds, or else the function.
func jobHeuristics(want *functions.HeuristicsPolicy, m bundle.Manifest) ([]functions.HeuristicUse, error) {
	var p functions.HeuristicsPolicy
	if want == nil {
		for _, h := range m.Heuristics {
			u := functions.HeuristicUse{Module: h.Module, On: functions.OnResults, Params: h.Params}
			for _, r := range h.Rules {
				u.Rules = append(u.Rules, functions.HeuristicRule{At: r.At, Do: functions.HeuristicAction(r.Do)})
			}
			p.Use = append(p.Use, u)
		}
	} else {
		p = functions.HeuristicsPolicy{Default: want.Default, Use: slices.Clone(want.Use)}
		for i := range p.Use {
			if p.Use[i].On == "" {
				p.Use[i].On = functions.OnResults
			}
		}
	}
	if p.Default {
		return nil, functions.Invalid("bad_heuristics", "a job has no default of its own", "leave \"default\" out: what the project's policy says holds for every job")
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(p.Use, func(u functions.HeuristicUse) bool { return u.On != functions.OnResults }); i >= 0 {
		return nil, functions.Invalid("bad_heuristics", fmt.Sprintf("%s looks at code, and a job's heuristics look at its results", p.Use[i].Module), "set it for the project: ostraka project set --heuristics")
	}
	return p.Use, nil
}

// withHeuristic adds a heuristic, or the rules of one that is there with the same parameters.
func withHeuristic(list []functions.HeuristicRef, h functions.HeuristicRef) []functions.HeuristicRef {
	i := slices.IndexFunc(list, func(o functions.HeuristicRef) bool {
		return o.Module == h.Module && string(o.Params) == string(h.Params)
	})
	if i < 0 {
		return append(list, h)
	}
	rules := slices.Clone(list[i].Rules)
	for _, r := range h.Rules {
		if !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
	}
	list[i].Rules = rules
	return list
}
