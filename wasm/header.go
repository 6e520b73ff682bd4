package wasm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Kind is what a module is for.
type Kind string

// The kinds.
const (
	KindValidator  Kind = "validator"  // decides about units of work from their results
	KindAggregator Kind = "aggregator" // folds accepted results
	KindHeuristic  Kind = "heuristic"  // scores code or results, as advice
	KindPlanner    Kind = "planner"    // makes further work out of an aggregate
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{KindAggregator, KindHeuristic, KindPlanner, KindValidator} }

// Phase is the part of its work that a module is asked for.
type Phase string

// The phases of an aggregator.
const (
	PhaseLeaf  Phase = "leaf"  // items in, one partial out
	PhaseMerge Phase = "merge" // partials in, one partial out
	PhaseFinal Phase = "final" // partials in, one final and any number of rows out
)

// The phases of every kind.
const (
	PhaseDescribe Phase = "describe" // nothing in, one description out
	PhaseRun      Phase = "run"      // the one phase of a validator, a heuristic or a planner
)

// Header is the first line that a module reads.
type Header struct {
	Kind    Kind
	Phase   Phase
	Project string
	Job     string
	Params  json.RawMessage // an object; nil means {}
	// Now is where the module's clock starts. It should depend on the job
	// alone, so that a run can be repeated; zero means Epoch.
	Now time.Time
	// Seed is what the module's random follows from; zero means that it is
	// derived from project, job, module, kind and phase.
	Seed [32]byte
	// Fuel lowers the pool's limit of units for this batch; zero leaves it.
	Fuel int64
	// Budget and Round are for planners: how many units may be planned, and how
	// often there was planning before.
	Budget *Budget
	Round  int64
}

// Budget is what a planner may spend.
type Budget struct {
	Units int64 `json:"units"`
	Jobs  int64 `json:"jobs"`
}

// Epoch is where a module's clock starts if the job says nothing else.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// MaxParams bounds the parameters of a module in bytes: they travel with every
// batch.
const MaxParams = 64 << 10

// complete fills in what was left out.
func (h Header) complete(digest string) (Header, error) {
	if h.Kind == "" || h.Phase == "" {
		return h, fmt.Errorf("module header: kind and phase are needed")
	}
	if len(h.Params) == 0 {
		h.Params = json.RawMessage("{}")
	}
	if len(h.Params) > MaxParams {
		return h, fmt.Errorf("module header: the parameters are %d bytes; at most %d are allowed", len(h.Params), MaxParams)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(h.Params, &object); err != nil || object == nil {
		return h, fmt.Errorf("module header: the parameters must be a JSON object")
	}
	if h.Now.IsZero() {
		h.Now = Epoch
	}
	if h.Seed == [32]byte{} {
		h.Seed = sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%s\x00%s", Contract, h.Project, h.Job, digest, h.Kind, h.Phase))
	}
	return h, nil
}

// headerLine is the header on the wire.
type headerLine struct {
	Ostraka int             `json:"ostraka"`
	Kind    Kind            `json:"kind"`
	Phase   Phase           `json:"phase"`
	Project string          `json:"project"`
	Job     string          `json:"job"`
	Module  string          `json:"module"`
	Params  json.RawMessage `json:"params"`
	Seed    string          `json:"seed"`
	Now     string          `json:"now"`
	Limits  headerLimits    `json:"limits"`
	Budget  *Budget         `json:"budget,omitempty"`
	Round   *int64          `json:"round,omitempty"`
}

type headerLimits struct {
	Fuel   int64 `json:"fuel"`
	Memory int64 `json:"memory"`
	Output int64 `json:"output"`
	Line   int64 `json:"line"`
}

// line encodes a completed header, without a line end.
func (h Header) line(digest string, l Limits) ([]byte, error) {
	line := headerLine{
		Ostraka: 1, Kind: h.Kind, Phase: h.Phase, Project: h.Project, Job: h.Job,
		Module: "sha256:" + digest, Params: h.Params,
		Seed: hex.EncodeToString(h.Seed[:]), Now: h.Now.UTC().Format(time.RFC3339Nano),
		Limits: headerLimits{Fuel: l.Fuel, Memory: l.Memory, Output: l.Output, Line: l.Line},
		Budget: h.Budget,
	}
	if h.Budget != nil {
		line.Round = &h.Round
	}
	b, err := json.Marshal(line)
	if err != nil {
		return nil, fmt.Errorf("encoding the module header: %w", err)
	}
	return b, nil
}
