package functions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/wasm"
)

// checkHeuristics checks a project's policy before it is stored: its modules are there and understand their parameters. It returns the
// JSON to store; nil leaves the policy as it is.
func (s *Service) checkHeuristics(ctx context.Context, project uuid.UUID, p *HeuristicsPolicy) ([]byte, error) {
	if p == nil {
		return nil, nil
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	for _, u := range p.Use {
		digest, err := s.chooseModule(ctx, project, wasm.KindHeuristic, u.Module, u.Params)
		if err != nil {
			return nil, err
		}
		_, _, err = s.heuristic(project, "check", pinnedHeuristic{HeuristicUse: u, digest: digest}).Score(ctx, wasm.Each([]wasm.Evidence(nil)))
		if err := paramsRefused(err, wasm.KindHeuristic, u.Module); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding the heuristics: %w", err)
	}
	return text, nil
}

// heuristic is a module, ready to score.
func (s *Service) heuristic(project uuid.UUID, job string, u pinnedHeuristic) wasm.Heuristics {
	return wasm.Heuristics{Use: wasm.Use{Pool: s.modules, Project: project.String(), Job: job, Module: s.pinnedModule(project, u.digest), Params: u.Params}}
}

// watchedHeuristic is a heuristic at work, and what it runs there.
func (s *Service) watchedHeuristic(project uuid.UUID, job string, u pinnedHeuristic, step string) (wasm.Heuristics, *moduleRuns) {
	runs := s.watch(moduleUse{project: project, module: u.Module, digest: u.digest, step: step})
	h := s.heuristic(project, job, u)
	h.Watch = runs.ranAlone
	return h, runs
}
