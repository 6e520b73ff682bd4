package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Description is what a module says about itself. A module that ends the phase
// "describe" with ExitUnsupported says nothing, which is allowed.
type Description struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Kinds   []Kind `json:"kinds"`
	Summary string `json:"summary,omitempty"`
	// Params is the JSON Schema of the parameters; empty if any object will do.
	Params json.RawMessage `json:"params,omitempty"`
	// Associative says of an aggregator that its final does not depend on how
	// pages were merged. One that says no is asked no questions about it: the
	// order and the shape of merges are fixed all the same.
	Associative *bool `json:"associative,omitempty"`
	// Separate says of a validator or a heuristic that its answer about an item
	// does not depend on the others of the batch. One that says no compares them.
	Separate *bool `json:"separate,omitempty"`
}

func (d *Description) associative() bool { return d == nil || d.Associative == nil || *d.Associative }

func (d *Description) separate() bool { return d == nil || d.Separate == nil || *d.Separate }

// Bounds of a description, in bytes.
const (
	MaxDescribedName = 100
	MaxSummary       = 1 << 10
)

// Describe asks a module what it is. Nil without an error means that it does
// not say.
func (u Use) Describe(ctx context.Context, kind Kind) (*Description, Stats, error) {
	var lines [][]byte
	stats, err := u.run(ctx, Header{Kind: kind, Phase: PhaseDescribe}, nil, func(line []byte) error {
		lines = append(lines, append([]byte(nil), line...))
		return nil
	}, nil)
	var ended *Error
	if errors.As(err, &ended) && ended.Class == ClassExit && ended.ExitCode == ExitUnsupported {
		return nil, stats, nil
	}
	if err != nil {
		return nil, stats, err
	}
	if len(lines) != 1 {
		return nil, stats, u.badOutput(stats, "the module printed %d lines; exactly one description is expected, or exit code %d", len(lines), ExitUnsupported)
	}
	var line struct {
		T string `json:"t"`
		Description
	}
	if err := json.Unmarshal(lines[0], &line); err != nil {
		return nil, stats, u.badOutput(stats, "the description is not what the contract asks for: %v", err)
	}
	if line.T != "describe" {
		return nil, stats, u.badOutput(stats, "the module printed a line of type %.40q; a description is expected, or exit code %d", line.T, ExitUnsupported)
	}
	if err := line.check(kind); err != nil {
		return nil, stats, u.badOutput(stats, "the description is not acceptable: %v", err)
	}
	return &line.Description, stats, nil
}

func (d Description) check(kind Kind) error {
	switch {
	case d.Name == "" || len(d.Name) > MaxDescribedName:
		return fmt.Errorf("the name is %d bytes; 1 to %d are allowed", len(d.Name), MaxDescribedName)
	case d.Version == "" || len(d.Version) > MaxDescribedName:
		return fmt.Errorf("the version is %d bytes; 1 to %d are allowed", len(d.Version), MaxDescribedName)
	case len(d.Summary) > MaxSummary:
		return fmt.Errorf("the summary is %d bytes; at most %d are allowed", len(d.Summary), MaxSummary)
	case len(d.Kinds) > len(Kinds()) || slices.ContainsFunc(d.Kinds, func(k Kind) bool { return !slices.Contains(Kinds(), k) }):
		return fmt.Errorf("it names kinds that there are not, or one twice; the kinds are %v", Kinds())
	case !slices.Contains(d.Kinds, kind):
		return fmt.Errorf("it says that it is of the kinds %q, and it is used as %s: name one of these as its kind", d.Kinds, kind)
	case clean(d.Name) != d.Name || clean(d.Version) != d.Version || clean(d.Summary) != d.Summary:
		return fmt.Errorf("name, version and summary must be printable")
	}
	_, err := d.schema()
	return err
}

// CheckParams holds parameters against the schema. No parameters are {}.
func (d *Description) CheckParams(params json.RawMessage) error {
	if d == nil {
		return nil
	}
	schema, err := d.schema()
	if err != nil || schema == nil {
		return err
	}
	return checkParams(schema, params)
}

// ExampleParams are parameters that the schema gives as an example, or {}.
func (d *Description) ExampleParams() json.RawMessage {
	if d != nil {
		var with struct {
			Examples []json.RawMessage `json:"examples"`
		}
		if json.Unmarshal(d.Params, &with) == nil && len(with.Examples) > 0 {
			return with.Examples[0]
		}
	}
	return json.RawMessage("{}")
}
