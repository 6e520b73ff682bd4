// Package builtin holds the modules that ship with Ostraka: an aggregator whose
// parameters choose the operation, a validator with tolerances, and heuristics.
// Their sources are beside them, and build.sh makes the same bytes from them
// again.
package builtin

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ostraka/ostraka/wasm"
)

// MaxBytes bounds each module that ships: what every server carries and compiles
// should not grow by a standard library unnoticed. A test holds it.
const MaxBytes = 64 << 10

//go:embed aggregate.wasm
var aggregate []byte

//go:embed tolerant.wasm
var tolerant []byte

//go:embed code-risk.wasm
var codeRisk []byte

//go:embed anomaly.wasm
var anomaly []byte

// Module returns the built-in aggregator.
func Module() wasm.Module { return wasm.FromBytes(aggregate) }

// names are the operations by which the aggregator can be asked for.
var names = []string{"concat", "count", "count_true", "max", "merge", "min", "same", "sum"}

// others are the built-in modules that are no aggregators.
var others = map[string]shipped{
	"tolerant":  {wasm.KindValidator, tolerant},
	"code-risk": {wasm.KindHeuristic, codeRisk},
	"anomaly":   {wasm.KindHeuristic, anomaly},
}

type shipped struct {
	kind  wasm.Kind
	bytes []byte
}

// Names returns the names of the built-in aggregators, sorted.
func Names() []string { return slices.Clone(names) }

// Taken tells whether a name stands for a built-in module of any kind.
func Taken(name string) bool {
	_, other := others[name]
	return other || slices.Contains(names, name)
}

// Find returns the built-in validator or heuristic of a name.
func Find(kind wasm.Kind, name string) (m wasm.Module, found bool) {
	s, found := others[name]
	if !found || s.kind != kind {
		return m, false
	}
	return wasm.FromBytes(s.bytes), true
}

// byDigest are all built-in modules, digested once.
var byDigest = sync.OnceValue(func() map[string]wasm.Module {
	all := map[string]wasm.Module{}
	add := func(m wasm.Module) { all[m.Digest] = m }
	add(Module())
	for _, s := range others {
		add(wasm.FromBytes(s.bytes))
	}
	return all
})

// ByDigest returns the built-in module with a digest.
func ByDigest(digest string) (m wasm.Module, found bool) {
	m, found = byDigest()[digest]
	return m, found
}

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
