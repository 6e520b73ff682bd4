package wasm

import (
	"context"
	"fmt"

	"github.com/ostraka/ostraka/wasm/precheck"
)

// Info describes a module that passed Check.
type Info struct {
	Digest string
	Kind   Kind
	precheck.Info
	// Smoke is what a batch without records took, compiled code at hand.
	Smoke Stats
}

// Check does what an upload does: the pre-check of the bytes, compiling in a
// runner, and a run with no records of each phase that can have none. The
// module must answer those with exit code 0 and well-formed records, whatever
// its parameters are later. A refusal is an *Error.
func (p *Pool) Check(ctx context.Context, project string, module []byte, kind Kind) (Info, error) {
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return Info{}, err
	}
	defer leave()
	m := FromBytes(module)
	info := Info{Digest: m.Digest, Kind: kind}
	if kind != KindAggregator {
		return Info{}, &Error{
			Class: ClassRejected, Rule: "kind", Digest: m.Digest,
			Message: fmt.Sprintf("modules of kind %q cannot be used yet", clean(string(kind))), Hint: "the kind that is supported is aggregator",
		}
	}
	if info.Info, err = p.precheck(module); err != nil {
		return Info{}, err
	}
	if err := p.compile(ctx, project, m); err != nil {
		return Info{}, err
	}
	info.Smoke, err = p.smoke(ctx, project, m)
	if err != nil {
		return Info{}, err
	}
	return info, nil
}

// smoke folds nothing, merges that with itself and finishes it.
func (p *Pool) smoke(ctx context.Context, project string, m Module) (Stats, error) {
	a := Aggregation{Pool: p, Project: project, Job: "check", Module: m}
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
