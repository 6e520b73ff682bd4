package heuristics

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/wasm"
)

// CheckHeuristics checks a project's policy before it is stored: its modules are there and understand their parameters. It returns the
// JSON to store; nil leaves the policy as it is.
func (s *Service) CheckHeuristics(ctx context.Context, project uuid.UUID, p *functions.HeuristicsPolicy) ([]byte, error) {
	if p == nil {
		return nil, nil
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	for _, u := range p.Use {
		if _, err := s.tryHeuristic(ctx, project, u, nil); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding the heuristics: %w", err)
	}
	return text, nil
}

// codeHeuristics are what a project has look at code.
func (s *Service) codeHeuristics(ctx context.Context, project uuid.UUID) ([]jobs.PinnedHeuristic, error) {
	policy, err := s.tenant.HeuristicsOf(ctx, project)
	if err != nil {
		return nil, err
	}
	return s.pinHeuristics(ctx, project, policy)
}

func (s *Service) pinHeuristics(ctx context.Context, project uuid.UUID, policy functions.HeuristicsPolicy) (list []jobs.PinnedHeuristic, err error) {
	for _, u := range policy.On(functions.OnCode) {
		pinned, err := s.pinHeuristic(ctx, project, u, nil)
		if err != nil {
			return nil, err
		}
		list = append(list, pinned)
	}
	return list, nil
}

func (s *Service) pinHeuristic(ctx context.Context, project uuid.UUID, u functions.HeuristicUse, pins functions.ModulePins) (jobs.PinnedHeuristic, error) {
	if u.Module == functions.ExternalModel {
		digest, err := s.pinModel(u)
		return jobs.Pin(u, digest), err
	}
	digest, err := s.registry.ChoosePinned(ctx, project, wasm.KindHeuristic, u.Module, u.Params, pins)
	if err != nil {
		return jobs.PinnedHeuristic{}, fmt.Errorf("pinning the heuristic %s: %w", u.Module, err)
	}
	return jobs.Pin(u, digest), nil
}

// tryHeuristic pins a heuristic, and tries it with its parameters: what it does not understand is better said now.
func (s *Service) tryHeuristic(ctx context.Context, project uuid.UUID, u functions.HeuristicUse, pins functions.ModulePins) (jobs.PinnedHeuristic, error) {
	pinned, err := s.pinHeuristic(ctx, project, u, pins)
	if err != nil || u.Module == functions.ExternalModel {
		return pinned, err
	}
	_, _, err = s.heuristic(project, "check", pinned).Score(ctx, wasm.Each([]wasm.Evidence(nil)))
	return pinned, registry.ParamsRefused(err, wasm.KindHeuristic, u.Module)
}

// heuristic is a module, ready to score.
func (s *Service) heuristic(project uuid.UUID, job string, u jobs.PinnedHeuristic) wasm.Heuristics {
	return wasm.Heuristics{Use: wasm.Use{Pool: s.modules, Project: project.String(), Job: job, Module: s.registry.PinnedModule(project, u.Digest), Params: u.Params}}
}

// watchedHeuristic is a heuristic at work, and what it runs there.
func (s *Service) watchedHeuristic(project, job uuid.UUID, u jobs.PinnedHeuristic, step string) (wasm.Heuristics, *registry.ModuleRuns) {
	runs := s.registry.WatchModule(registry.ModuleUse{Project: project, Job: job, Module: u.Module, Digest: u.Digest, Step: step})
	name := "code"
	if job != uuid.Nil {
		name = job.String()
	}
	h := s.heuristic(project, name, u)
	h.Watch = runs.RanAlone
	return h, runs
}
