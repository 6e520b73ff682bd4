package bundle

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// Names and defaults of a manifest.
const (
	// ManifestName is the manifest's path inside the bundle.
	ManifestName = "function.toml"
	// DefaultEntrypoint is what runs when the manifest names nothing.
	DefaultEntrypoint = "main:handler"
	// RuntimePython3 is the runtime when the manifest names none.
	RuntimePython3 = "python3"
	// RuntimeWasm is that of a function in WebAssembly: a command for WASI preview 1.
	RuntimeWasm = "wasm"
	// DefaultEntry is the module of such a function when the manifest names nothing.
	DefaultEntry = "function.wasm"
	// NetworkNone is the only network policy so far.
	NetworkNone = "none"
	// MaxQuorum is the largest quorum that a function may ask for.
	MaxQuorum = 16
	// DefaultTargetError is the target error when the manifest says no way to verify: one wrong result in a thousand.
	DefaultTargetError = 1e-3
	// DefaultAssumeHostile is the share of hostile agents that a target error is kept against when the manifest says none.
	DefaultAssumeHostile = 0.1
	// MaxMaxAttempts is the most attempts of one shard that a function may allow.
	MaxMaxAttempts = 32
	// MinTargetError is the smallest share of accepted results that may be wrong
	// which a policy can ask for.
	MinTargetError = 1e-6
	// MaxTargetError is the largest.
	MaxTargetError = 0.5
	// ExactRisk is the probability of any wrong result that exact means, and the smallest answer_error.
	ExactRisk = 1e-6
	// MinAssumeHostile is the smallest share of agents that a policy can take for
	// hostile.
	MinAssumeHostile = 0.001
	// MaxAssumeHostile is the largest.
	MaxAssumeHostile = 0.49
	// MaxConfirmBytes is the largest condition over outputs, in bytes: that of any expression.
	MaxConfirmBytes = 4 << 10
	// MaxWarm is the most sandboxes of one function that a function may ask an agent to keep.
	MaxWarm = 16
	// RecheckAll has the server execute every shard as well.
	RecheckAll = "all"
)

// Manifest is what function.toml says, with defaults filled in and checked.
type Manifest struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Entrypoint  string `json:"entrypoint,omitempty"` // module:callable; empty when Script is set
	Script      string `json:"script,omitempty"`     // a file that reads stdin and writes stdout
	Entry       string `json:"entry,omitempty"`      // the module of a function in WebAssembly, and then neither of the above
	Per         string `json:"per,omitempty"`        // PerItem: the handler takes the items of a shard one by one; empty: it takes shards
	Runtime     string `json:"runtime"`
	Network     string `json:"network"`
	// Warm is how many sandboxes with the function imported an agent keeps for its next leases, where its owner allows that.
	Warm         int          `json:"warm,omitempty"`
	MinIsolation Isolation    `json:"min_isolation"`
	Limits       Limits       `json:"limits"`
	Verification Verification `json:"verification"`
	Aggregator   *Aggregator  `json:"aggregator,omitempty"`
	Output       *Output      `json:"output,omitempty"`
	// Heuristics look at the results of the function's jobs, besides those that its project asks for; by name.
	Heuristics []ResultHeuristic `json:"heuristics,omitempty"`
	// Monitor are thresholds for the function's sandboxes. They only make stricter what owners of machines and projects set.
	Monitor *threshold.Rules `json:"monitor,omitempty"`
	// Volumes are folders of the machine that the function reads, by name.
	Volumes []Volume `json:"volumes,omitempty"`
}

// Verification is how results of the function are checked, unless a job says
// otherwise.
type Verification struct {
	Quorum        int     `json:"quorum,omitempty"`         // equal results that a shard needs
	None          bool    `json:"none,omitempty"`           // accept the first result unchecked
	TargetError   float64 `json:"target_error,omitempty"`   // share of accepted results that may be wrong
	AssumeHostile float64 `json:"assume_hostile,omitempty"` // share of agents that are taken for hostile
	AnswerError   float64 `json:"answer_error,omitempty"`   // probability that any result of a job is wrong
	Recheck       string  `json:"recheck,omitempty"`        // "all": the server executes every shard as well
	MaxAttempts   int     `json:"max_attempts,omitempty"`
	// Confirm is a condition over outputs: results that fulfil it are executed again before they count.
	Confirm string `json:"confirm,omitempty"`
	// Validator compares answers that differ; without one only equal bytes are equal.
	Validator *Validator `json:"validator,omitempty"`
}

// Validator names the module that compares the function's results.
type Validator struct {
	Module string          `json:"module"`
	Params json.RawMessage `json:"params,omitempty"` // a JSON object
	// Certificate has the module judge each result alone: it either proves itself or does not count.
	Certificate bool `json:"certificate,omitempty"`
}

// Aggregator names the module that folds the function's results.
type Aggregator struct {
	Module string          `json:"module"`
	Params json.RawMessage `json:"params,omitempty"` // a JSON object
}

// ResultHeuristic names a module that looks at the function's results, and says what follows from which score.
type ResultHeuristic struct {
	Module string          `json:"module"`
	Params json.RawMessage `json:"params,omitempty"` // a JSON object
	Rules  []ResultRule    `json:"rules"`
}

// ResultRule says what follows from a score: flag, raise, recheck or review.
type ResultRule struct {
	At float64 `json:"at" toml:"at"` // from this score on, 0 to 1
	Do string  `json:"do" toml:"do"`
}

var (
	namePattern       = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
	entrypointPattern = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*):([A-Za-z_][A-Za-z0-9_]*)$`)
)

// check refuses a manifest whose fields do not make sense, before defaults that
// depend on one another are trusted.
func (m *Manifest) check() error {
	if !namePattern.MatchString(m.Name) {
		return fmt.Errorf("name = %q: a name is a lower-case letter followed by at most 62 of a-z, 0-9 and -", m.Name)
	}
	if len(m.Description) > MaxDescriptionBytes {
		return fmt.Errorf("description has %d bytes, at most %d are allowed", len(m.Description), MaxDescriptionBytes)
	}
	if err := m.checkRuntime(); err != nil {
		return err
	}
	if m.Network != NetworkNone {
		return fmt.Errorf("network = %q: functions have no network; leave the line out or write %q", m.Network, NetworkNone)
	}
	if m.Warm < 0 || m.Warm > MaxWarm {
		return fmt.Errorf("warm = %d: an agent keeps 0 to %d sandboxes of a function", m.Warm, MaxWarm)
	}
	if err := m.checkEntry(); err != nil {
		return err
	}
	if err := m.checkPer(); err != nil {
		return err
	}
	if err := m.Limits.check(m.Runtime); err != nil {
		return err
	}
	if err := m.checkOutput(); err != nil {
		return err
	}
	if m.IsWasm() && len(m.Volumes) > 0 {
		return fmt.Errorf("volumes: a function with runtime = %q has no files; write the function in Python", RuntimeWasm)
	}
	return m.Verification.check()
}

func (m *Manifest) checkEntry() error {
	if m.Runtime == RuntimeWasm {
		return m.checkModule()
	}
	if m.Entry != "" {
		return fmt.Errorf("entry = %q: that is for runtime = %q; write entrypoint or script", m.Entry, RuntimeWasm)
	}
	if m.Script == "" {
		if !entrypointPattern.MatchString(m.Entrypoint) {
			return fmt.Errorf("entrypoint = %q: write module:callable, for example %q", m.Entrypoint, DefaultEntrypoint)
		}
		return nil
	}
	if m.Entrypoint != "" {
		return fmt.Errorf("entrypoint and script exclude one another: keep entrypoint for a handler, script for a program that reads stdin")
	}
	if err := checkPath(m.Script); err != nil {
		return fmt.Errorf("script: %w", err)
	}
	if path.Ext(m.Script) != ".py" {
		return fmt.Errorf("script = %q: name a .py file of the bundle", m.Script)
	}
	return nil
}

func (m *Manifest) checkModule() error {
	if m.Entrypoint != "" || m.Script != "" {
		return fmt.Errorf("entrypoint and script are for Python: a function with runtime = %q has an entry, for example %q", RuntimeWasm, DefaultEntry)
	}
	if err := checkPath(m.Entry); err != nil {
		return fmt.Errorf("entry: %w", err)
	}
	if path.Ext(m.Entry) != ".wasm" {
		return fmt.Errorf("entry = %q: name a .wasm file of the bundle", m.Entry)
	}
	return nil
}

// IsWasm says whether the function is a module of WebAssembly.
func (m *Manifest) IsWasm() bool { return m.Runtime == RuntimeWasm }

func (v *Verification) check() error {
	switch {
	case v.ways() != 1:
		return fmt.Errorf("verification: exactly one of quorum (1 to %d), none, target_error, recheck, answer_error and exact is to be given", MaxQuorum)
	case v.Quorum < 0 || v.Quorum > MaxQuorum:
		return fmt.Errorf("verification.quorum = %d: a quorum is 1 to %d", v.Quorum, MaxQuorum)
	case v.TargetError != 0 && !(v.TargetError >= MinTargetError && v.TargetError <= MaxTargetError):
		return fmt.Errorf("verification.target_error = %v: the share of wrong results is %v to %v", v.TargetError, MinTargetError, MaxTargetError)
	case v.AssumeHostile != 0 && !(v.AssumeHostile >= MinAssumeHostile && v.AssumeHostile <= MaxAssumeHostile):
		return fmt.Errorf("verification.assume_hostile = %v: the share of hostile agents is %v to %v", v.AssumeHostile, MinAssumeHostile, MaxAssumeHostile)
	case v.AnswerError != 0 && !(v.AnswerError >= ExactRisk && v.AnswerError <= MaxTargetError):
		return fmt.Errorf("verification.answer_error = %v: the probability of any wrong result is %v to %v", v.AnswerError, ExactRisk, MaxTargetError)
	case v.AssumeHostile != 0 && v.TargetError == 0 && v.AnswerError == 0:
		return fmt.Errorf("verification.assume_hostile is part of a target_error: give that, too")
	case v.Recheck != "" && v.Recheck != RecheckAll:
		return fmt.Errorf("verification.recheck = %q: write %q, or leave it out", v.Recheck, RecheckAll)
	case v.Confirm != "" && (v.Quorum != 0 || v.None):
		return fmt.Errorf("verification.confirm goes with a target_error, an answer_error, exact or recheck: leave quorum and none out")
	case len(v.Confirm) > MaxConfirmBytes:
		return fmt.Errorf("verification.confirm has %d bytes, at most %d are allowed: let the function return what decides", len(v.Confirm), MaxConfirmBytes)
	case v.MaxAttempts < 0 || v.MaxAttempts > MaxMaxAttempts:
		return fmt.Errorf("verification.max_attempts = %d: at most %d", v.MaxAttempts, MaxMaxAttempts)
	case v.MaxAttempts != 0 && v.MaxAttempts < v.Quorum:
		return fmt.Errorf("verification.max_attempts = %d is below the quorum of %d, which could never be met", v.MaxAttempts, v.Quorum)
	}
	return nil
}

// ways counts how many ways to verify are asked for.
func (v *Verification) ways() (n int) {
	for _, asked := range []bool{v.Quorum != 0, v.None, v.TargetError != 0, v.Recheck != "", v.AnswerError != 0} {
		if asked {
			n++
		}
	}
	return n
}

// Module and Callable split the entrypoint.
func (m *Manifest) Module() string {
	module, _, _ := strings.Cut(m.Entrypoint, ":")
	return module
}

// Callable is the part of the entrypoint after the colon.
func (m *Manifest) Callable() string {
	_, callable, _ := strings.Cut(m.Entrypoint, ":")
	return callable
}

// EntryFiles lists paths: the bundle must hold at least one of them.
func (m *Manifest) EntryFiles() []string {
	if m.IsWasm() {
		return []string{m.Entry}
	}
	if m.Script != "" {
		return []string{m.Script}
	}
	base := strings.ReplaceAll(m.Module(), ".", "/")
	return []string{base + ".py", base + "/__init__.py"}
}
