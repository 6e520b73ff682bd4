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
		if _, err := s.tryHeuristic(ctx, project, u); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding the heuristics: %w", err)
	}
	return text, nil
}

func (s *Service) pinHeuristics(ctx context.Context, project uuid.UUID) (list []pinnedHeuristic, err error) {
	policy, err := s.heuristicsOf(ctx, project)
	if err != nil {
		return nil, err
	}
	for _, u := range policy.on(OnCode) {
		pinned, err := s.pinHeuristic(ctx, project, u)
		if err != nil {
			return nil, err
		}
		list = append(list, pinned)
	}
	return list, nil
}

func (s *Service) pinHeuristic(ctx context.Context, project uuid.UUID, u HeuristicUse) (pinnedHeuristic, error) {
	if u.Module == ExternalModel {
		digest, err := s.pinModel(u)
		return pinned(u, digest), err
	}
	digest, err := s.chooseModule(ctx, project, wasm.KindHeuristic, u.Module, u.Params)
	if err != nil {
		return pinnedHeuristic{}, fmt.Errorf("pinning the heuristic %s: %w", u.Module, err)
	}
	return pinned(u, digest), nil
}

// tryHeuristic pins a heuristic, and tries it with its parameters: what it does not understand is better said now.
func (s *Service) tryHeuristic(ctx context.Context, project uuid.UUID, u HeuristicUse) (pinnedHeuristic, error) {
	pinned, err := s.pinHeuristic(ctx, project, u)
	if err != nil || u.Module == ExternalModel {
		return pinned, err
	}
	_, _, err = s.heuristic(project, "check", pinned).Score(ctx, wasm.Each([]wasm.Evidence(nil)))
	return pinned, paramsRefused(err, wasm.KindHeuristic, u.Module)
}

// heuristic is a module, ready to score.
func (s *Service) heuristic(project uuid.UUID, job string, u pinnedHeuristic) wasm.Heuristics {
	return wasm.Heuristics{Use: wasm.Use{Pool: s.modules, Project: project.String(), Job: job, Module: s.pinnedModule(project, u.digest), Params: u.Params}}
}

// watchedHeuristic is a heuristic at work, and what it runs there.
func (s *Service) watchedHeuristic(project, job uuid.UUID, u pinnedHeuristic, step string) (wasm.Heuristics, *moduleRuns) {
	runs := s.watch(moduleUse{project: project, job: job, module: u.Module, digest: u.digest, step: step})
	name := "code"
	if job != uuid.Nil {
		name = job.String()
	}
	h := s.heuristic(project, name, u)
	h.Watch = runs.ranAlone
	return h, runs
}
