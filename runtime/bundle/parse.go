package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// manifestFile is function.toml as written. Pointers tell "absent" from zero.
type manifestFile struct {
	Name         *string                  `toml:"name"`
	Description  string                   `toml:"description"`
	Entrypoint   *string                  `toml:"entrypoint"`
	Script       *string                  `toml:"script"`
	Entry        *string                  `toml:"entry"`
	Per          *string                  `toml:"per"`
	Runtime      *string                  `toml:"runtime"`
	Network      *string                  `toml:"network"`
	Warm         int                      `toml:"warm"`
	MinIsolation *string                  `toml:"min_isolation"`
	Limits       limitsFile               `toml:"limits"`
	Verification *verifyFile              `toml:"verification"`
	Aggregator   *moduleFile              `toml:"aggregator"`
	Heuristics   map[string]heuristicFile `toml:"heuristics"`
	Monitor      *threshold.Rules         `toml:"monitor"`
	Output       *outputFile              `toml:"output"`
	Volumes      []volumeFile             `toml:"volumes"`
}

type limitsFile struct {
	CPUSeconds    any `toml:"cpu_seconds"`
	WallSeconds   any `toml:"wall_seconds"`
	MemoryBytes   any `toml:"memory_bytes"`
	OutputBytes   any `toml:"output_bytes"`
	StdoutBytes   any `toml:"stdout_bytes"`
	StderrBytes   any `toml:"stderr_bytes"`
	DiskBytes     any `toml:"disk_bytes"`
	Inodes        any `toml:"inodes"`
	Files         any `toml:"files"`
	ArtifactBytes any `toml:"artifact_bytes"`
	Pids          any `toml:"pids"`
	OpenFiles     any `toml:"open_files"`
	Fuel          any `toml:"fuel"`
}

// values lists what is written in the order of limitFields.
func (l *limitsFile) values() []any {
	return []any{
		l.CPUSeconds, l.WallSeconds, l.MemoryBytes, l.OutputBytes, l.StdoutBytes,
		l.StderrBytes, l.DiskBytes, l.Inodes, l.Files, l.ArtifactBytes, l.Pids, l.OpenFiles, l.Fuel,
	}
}

type verifyFile struct {
	Quorum        *int     `toml:"quorum"`
	None          bool     `toml:"none"`
	TargetError   *float64 `toml:"target_error"`
	AssumeHostile float64  `toml:"assume_hostile"`
	AnswerError   float64  `toml:"answer_error"`
	Exact         bool     `toml:"exact"`
	Recheck       string   `toml:"recheck"`
	MaxAttempts   int      `toml:"max_attempts"`
	Confirm       string   `toml:"confirm"`

	Validator *validatorFile `toml:"validator"`
}

type validatorFile struct {
	moduleFile
	Certificate bool `toml:"certificate"`
}

type heuristicFile struct {
	Params map[string]any `toml:"params"`
	Rules  []ResultRule   `toml:"rules"`
}

type moduleFile struct {
	Module string         `toml:"module"`
	Params map[string]any `toml:"params"`
}

// ParseManifest reads function.toml. Unknown fields are errors.
func ParseManifest(b []byte) (Manifest, error) {
	if len(b) > MaxManifestBytes {
		return Manifest{}, fmt.Errorf("reading %s: %d bytes, at most %d are allowed", ManifestName, len(b), MaxManifestBytes)
	}
	var f manifestFile
	d := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Manifest{}, fmt.Errorf("reading %s: %w", ManifestName, explain(err))
	}
	m, err := f.manifest()
	if err != nil {
		return Manifest{}, fmt.Errorf("reading %s: %w", ManifestName, err)
	}
	return m, nil
}

// explain names the unknown fields, or the line, of a TOML error.
func explain(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		var fields []string
		for _, e := range strict.Errors {
			row, _ := e.Position()
			fields = append(fields, fmt.Sprintf("%s (line %d)", strings.Join(e.Key(), "."), row))
		}
		return fmt.Errorf("unknown field %s: mend the spelling or remove it", strings.Join(fields, ", "))
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, column := decode.Position()
		return fmt.Errorf("line %d, column %d: %w", row, column, err)
	}
	return err
}

func (f *manifestFile) manifest() (Manifest, error) {
	if f.Name == nil {
		return Manifest{}, fmt.Errorf(`the field name is missing: add a line such as name = "my-function"`)
	}
	m := Manifest{
		Name:        *f.Name,
		Description: f.Description,
		Runtime:     or(f.Runtime, RuntimePython3),
		Network:     or(f.Network, NetworkNone),
		Warm:        f.Warm,
		Script:      or(f.Script, ""),
		Entry:       or(f.Entry, ""),
	}
	if f.Script != nil && *f.Script == "" {
		return Manifest{}, fmt.Errorf("script is empty: name a .py file of the bundle, or leave the line out")
	}
	switch {
	case m.IsWasm():
		m.Entrypoint, m.Entry = or(f.Entrypoint, ""), or(f.Entry, DefaultEntry)
	case f.Script == nil:
		m.Entrypoint = or(f.Entrypoint, DefaultEntrypoint)
	default:
		m.Entrypoint = or(f.Entrypoint, "")
	}
	var err error
	if m.Per, err = f.per(); err != nil {
		return Manifest{}, err
	}
	if m.MinIsolation, err = ParseIsolation(or(f.MinIsolation, string(Process))); err != nil {
		return Manifest{}, fmt.Errorf("min_isolation: %w", err)
	}
	if m.Limits, err = f.Limits.limits(m.Runtime); err != nil {
		return Manifest{}, err
	}
	if m.Verification, err = f.Verification.verification(); err != nil {
		return Manifest{}, err
	}
	if m.Aggregator, err = f.Aggregator.aggregator(); err != nil {
		return Manifest{}, err
	}
	if m.Output, err = f.Output.output(); err != nil {
		return Manifest{}, err
	}
	if m.Heuristics, err = heuristics(f.Heuristics); err != nil {
		return Manifest{}, err
	}
	if m.Monitor = f.Monitor; m.Monitor != nil {
		if err := m.Monitor.Check(); err != nil {
			return Manifest{}, fmt.Errorf("monitor: %w", err)
		}
	}
	if m.Volumes, err = volumes(f.Volumes); err != nil {
		return Manifest{}, err
	}
	return m, m.check()
}

func or(s *string, fallback string) string {
	if s == nil {
		return fallback
	}
	return *s
}

func (l *limitsFile) limits(runtime string) (Limits, error) {
	out := defaultLimitsOf(runtime)
	for i, v := range l.values() {
		f := limitFields[i]
		n := f.of(&out)
		if v != nil && !f.isFor(runtime) {
			return Limits{}, fmt.Errorf("limits.%s: a function with runtime = %q has no such limit%s", f.name, runtime, f.instead(runtime))
		}
		switch v := v.(type) {
		case nil:
		case int64:
			*n = v
		case string:
			size, err := ParseBytes(v)
			if err != nil || !f.bytes {
				return Limits{}, fmt.Errorf("limits.%s = %q: write a whole number%s", f.name, v, sizeHint(f))
			}
			*n = size
		default:
			return Limits{}, fmt.Errorf("limits.%s = %v: write a whole number%s", f.name, v, sizeHint(f))
		}
	}
	if runtime == RuntimeWasm {
		// One thread computes, and ends with the clock: this tells code that bounds processor time how much it may be.
		out.CPUSeconds = min(out.WallSeconds, MaxLimits().CPUSeconds)
	}
	return out, nil
}

func sizeHint(f limitField) string {
	if f.bytes {
		return ` or a size such as "256Mi"`
	}
	return ""
}

func (v *verifyFile) verification() (Verification, error) {
	if v == nil {
		return Verification{TargetError: DefaultTargetError, AssumeHostile: DefaultAssumeHostile}, nil
	}
	out := Verification{None: v.None, AssumeHostile: v.AssumeHostile, Recheck: v.Recheck, MaxAttempts: v.MaxAttempts, Confirm: v.Confirm}
	out.AnswerError = v.AnswerError
	if v.Exact {
		if v.AnswerError != 0 {
			return Verification{}, fmt.Errorf("verification: exact means answer_error = %v: give one of them", ExactRisk)
		}
		out.AnswerError = ExactRisk
	}
	switch {
	case v.TargetError != nil:
		out.TargetError = *v.TargetError
	case v.Quorum == nil && !v.None && v.Recheck == "" && out.AnswerError == 0:
		out.TargetError = DefaultTargetError
	}
	if v.Quorum != nil {
		out.Quorum = *v.Quorum
	}
	if out.TargetError != 0 && out.AssumeHostile == 0 {
		out.AssumeHostile = DefaultAssumeHostile
	}
	if v.Validator == nil {
		return out, nil
	}
	params, err := v.Validator.module("verification.validator", "tolerant")
	if err != nil {
		return Verification{}, err
	}
	out.Validator = &Validator{Module: v.Validator.Module, Params: params, Certificate: v.Validator.Certificate}
	return out, nil
}

func (a *moduleFile) aggregator() (*Aggregator, error) {
	if a == nil {
		return nil, nil
	}
	params, err := a.module("aggregator", "merge")
	if err != nil {
		return nil, err
	}
	return &Aggregator{Module: a.Module, Params: params}, nil
}

// heuristics puts the modules that look at results in the order of their names. Which actions there are is the server's to say: it
// refuses a job with one that it does not know.
func heuristics(named map[string]heuristicFile) (list []ResultHeuristic, err error) {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		h := named[name]
		file := moduleFile{Module: name, Params: h.Params}
		params, err := file.module("heuristics."+name, "anomaly")
		if err != nil {
			return nil, err
		}
		if len(h.Rules) == 0 {
			return nil, fmt.Errorf("heuristics.%s has no rules: say what follows from a score, for example rules = [{ at = 0.5, do = \"flag\" }]", name)
		}
		list = append(list, ResultHeuristic{Module: name, Params: params, Rules: h.Rules})
	}
	return list, nil
}

// module checks the name of a module and returns its parameters as JSON, nil where there are none.
func (a *moduleFile) module(field, example string) (json.RawMessage, error) {
	if !namePattern.MatchString(a.Module) {
		return nil, fmt.Errorf("%s.module = %q: name a module, for example %q", field, a.Module, example)
	}
	if a.Params == nil {
		return nil, nil
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(a.Params); err != nil {
		return nil, fmt.Errorf("%s.params cannot be written as JSON: %w", field, err)
	}
	params := bytes.TrimSpace(buf.Bytes())
	if err := canonical.Valid(params, MaxParamsBytes); err != nil {
		return nil, fmt.Errorf("%s.params: %w", field, err)
	}
	return params, nil
}
