// Package builtin holds the module that ships with Ostraka: one aggregator whose
// parameters choose what it does. Its source is beside it, and build.sh makes
// the same bytes from it again.
package builtin

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/wasm"
)

//go:embed aggregate.wasm
var aggregate []byte

// Module returns the built-in aggregator.
func Module() wasm.Module { return wasm.FromBytes(aggregate) }

// names are the operations by which the aggregator can be asked for.
var names = []string{"concat", "count", "count_true", "max", "merge", "min", "same", "sum"}

// Names returns the names of the built-in aggregators, sorted.
func Names() []string { return slices.Clone(names) }

// Resolve returns the module and the parameters that a built-in name stands for:
// the caller's parameters with the operation added. What else they may hold is
// the module's to say.
func Resolve(name string, params json.RawMessage) (wasm.Module, json.RawMessage, error) {
	if !slices.Contains(names, name) {
		return wasm.Module{}, nil, fmt.Errorf("no built-in aggregator is called %q; there are %s", name, strings.Join(names, ", "))
	}
	all := map[string]json.RawMessage{}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &all); err != nil || all == nil {
			return wasm.Module{}, nil, fmt.Errorf("the parameters of the aggregator %s must be a JSON object", name)
		}
	}
	op, err := json.Marshal(name)
	if err != nil {
		return wasm.Module{}, nil, fmt.Errorf("encoding the name of the aggregator %q: %w", name, err)
	}
	if said, ok := all["op"]; ok && string(said) != string(op) {
		return wasm.Module{}, nil, fmt.Errorf("the parameters of the aggregator %s ask for another operation, %.40s: leave \"op\" out", name, said)
	}
	all["op"] = op
	merged, err := json.Marshal(all)
	if err != nil {
		return wasm.Module{}, nil, fmt.Errorf("encoding the parameters of the aggregator %s: %w", name, err)
	}
	return Module(), merged, nil
}
