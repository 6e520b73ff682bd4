package wasm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ostraka/ostraka/wasm/precheck"
)

// Info describes a module that passed Check.
type Info struct {
	Digest string
	Kind   Kind
	precheck.Info
	// Description is what the module says about itself; nil if nothing.
	Description *Description
	// Smoke is what a batch without records took, compiled code at hand.
	Smoke Stats
}

// Check does what an upload does: the pre-check of the bytes, compiling in a
// runner, the phase describe, and a run with no records of each phase of its
// kind, twice. The module must answer those with exit code 0 and well-formed
// records, the same ones both times, with the first example of its parameters
// or none. A refusal is an *Error.
func (p *Pool) Check(ctx context.Context, project string, module []byte, kind Kind) (Info, error) {
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return Info{}, err
	}
	defer leave()
	m := FromBytes(module)
	info := Info{Digest: m.Digest, Kind: kind}
	if !slices.Contains(Kinds(), kind) {
		return Info{}, &Error{
			Class: ClassRejected, Rule: "kind", Digest: m.Digest,
			Message: fmt.Sprintf("there is no kind %q of modules", clean(string(kind))), Hint: fmt.Sprintf("the kinds are %v", Kinds()),
		}
	}
	if info.Info, err = p.precheck(module, p.limits.Memory); err != nil {
		return Info{}, err
	}
	if err := p.compile(ctx, project, m); err != nil {
		return Info{}, err
	}
	use := Use{Pool: p, Project: project, Job: "check", Module: m, Fuel: CheckFuel}
	if info.Description, _, err = use.Describe(ctx, kind); err != nil {
		return Info{}, fmt.Errorf("trying the phase describe: %w", withDescribeHint(err))
	}
	use.Params = info.Description.ExampleParams()
	if err := info.Description.CheckParams(use.Params); err != nil {
		return Info{}, use.badOutput(Stats{}, "the first example in the schema, or {} without one: %v", err)
	}
	if info.Smoke, err = use.smoke(ctx, kind); err != nil {
		return Info{}, err
	}
	again, err := use.smoke(ctx, kind)
	if err != nil {
		return Info{}, fmt.Errorf("trying it again: %w", err)
	}
	if again.Fuel != info.Smoke.Fuel || again.OutBytes != info.Smoke.OutBytes {
		return Info{}, use.failure(ClassNondeterministic, "two runs without records differ: %d and %d units, %d and %d bytes", info.Smoke.Fuel, again.Fuel, info.Smoke.OutBytes, again.OutBytes)
	}
	return info, nil
}

// withDescribeHint says what a module is to do where describing itself has failed.
func withDescribeHint(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Operational() || e.Class == ClassBadOutput {
		return err
	}
	hinted := *e
	hinted.Hint = "answer a header of the phase describe with one line, or with exit code 64 if the module does not describe itself: docs/modules.md"
	return &hinted
}

// failure is an Error about several runs.
func (u Use) failure(class Class, format string, args ...any) error {
	return &Error{Class: class, Message: fmt.Sprintf(format, args...), Hint: "see docs/modules.md", Digest: u.Module.Digest}
}

// smoke runs each phase of a kind with nothing in it.
func (u Use) smoke(ctx context.Context, kind Kind) (Stats, error) {
	var stats Stats
	var err error
	switch kind {
	case KindAggregator:
		return Aggregation{Use: u}.smoke(ctx)
	case KindValidator:
		_, stats, err = Validation{u}.Judge(ctx, none[Unit])
	case KindHeuristic:
		_, stats, err = Heuristics{u}.Score(ctx, none[Evidence])
	case KindPlanner:
		_, stats, err = Planning{Use: u}.Plan(ctx, Final{}, none[DoneUnit])
	}
	if err != nil {
		return stats, fmt.Errorf("trying the phase run with no items: %w", err)
	}
	return stats, nil
}

// smoke folds nothing, merges that with itself and finishes it.
func (a Aggregation) smoke(ctx context.Context) (Stats, error) {
	empty, _, err := a.Fold(ctx, none[Item])
	if err != nil {
		return Stats{}, fmt.Errorf("trying the phase leaf with no items: %w", err)
	}
	merged, _, err := a.Merge(ctx, Each([]Partial{empty, empty}))
	if err != nil {
		return Stats{}, fmt.Errorf("trying the phase merge with two empty partials: %w", err)
	}
	_, stats, err := a.Final(ctx, Each([]Partial{merged}))
	if err != nil {
		return Stats{}, fmt.Errorf("trying the phase final with an empty partial: %w", err)
	}
	return stats, nil
}

func none[T any](func(T, error) bool) {}
