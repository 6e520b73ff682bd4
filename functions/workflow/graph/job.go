package graph

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"

	"github.com/ostraka/ostraka/functions/partition"
)

// MapStep is a job as a step asks for it.
type MapStep struct {
	Function   string // as [functions] names it
	Kind       partition.Kind
	Input      any            // of the partition, with placeholders
	Source     *Source        // where its items come from; nil: from Input
	File       string         // that it reads, as [files] names it; "": none
	Rolling    map[string]any // how jobs are made as the step goes; nil: one job is
	Calibrate  *Calibration   // how long a shard is to take; nil: the range says how large it is
	Policy     Policy
	Aggregator string
	Params     map[string]any // of the aggregator
	Priority   int
}

// Policy says how much agreement a result needs, as ostraka job run and the API have it. The zero value: what the function says.
type Policy struct {
	Quorum        int     `toml:"quorum"`
	None          bool    `toml:"none"`
	TargetError   float64 `toml:"target_error"`
	AssumeHostile float64 `toml:"assume_hostile"`
	AnswerError   float64 `toml:"answer_error"`
	Recheck       string  `toml:"recheck"`
	MaxAttempts   int     `toml:"max_attempts"`
	Confirm       string  `toml:"confirm"`
}

// Job is what a step asks for, with the values of a run.
type Job struct {
	Function   string // as [functions] names it
	Partition  partition.Spec
	Policy     Policy
	Aggregator string
	Params     json.RawMessage
	Priority   int
	Calibrate  *Calibration // by which the size of the partition's shards is to be chosen; nil: it is chosen

	Proves          bool   // each result proves itself
	Validator       string // of a step of the type prove; "": that of the function
	ValidatorParams json.RawMessage
}

// inputs is how many inputs a step names.
func (t stepTable) inputs() (n int) {
	for _, given := range t.given() {
		if given.input != nil {
			n++
		}
	}
	return n
}

type givenInput struct {
	kind  partition.Kind
	input any
}

func (t stepTable) given() []givenInput {
	list := []givenInput{{partition.KindItems, t.Items}}
	for _, table := range []struct {
		kind partition.Kind
		of   map[string]any
	}{{partition.KindRange, t.Range}, {partition.KindGrid, t.Grid}, {partition.KindLines, t.Lines}, {partition.KindObjects, t.Objects}} {
		if table.of != nil {
			list = append(list, givenInput{table.kind, table.of})
		}
	}
	return list
}

func (t stepTable) mapStep(s Step) (m MapStep, err error) {
	m = MapStep{Function: t.Function, Params: t.Params, Priority: t.Priority}
	if t.Policy != nil {
		m.Policy = *t.Policy
	}
	if t.inputs() != 1 {
		return m, wrong(s.field("range"), "write one of range, items, grid, lines and objects", "a step of the type map has one input, and this has %d", t.inputs())
	}
	for _, given := range t.given() {
		if given.input != nil {
			m.Kind, m.Input = given.kind, given.input
		}
	}
	if m.Source, err = t.source(s); err != nil {
		return m, err
	}
	if m.File, err = t.file(s, m.Input); err != nil {
		return m, err
	}
	if m.File != "" {
		m.Input = fileInput(m.Input, noDigest)
	}
	if m.Aggregator, err = t.aggregator(s); err != nil {
		return m, err
	}
	m.Rolling = t.Rolling
	if m.Calibrate, err = t.calibration(s); err != nil {
		return m, err
	}
	return m, cmp.Or(checkPriority(s, t.Priority), m.checkRolling(s))
}

// aggregator is the module that a step names, or none.
func (t stepTable) aggregator(s Step) (name string, err error) {
	switch a := t.Aggregator.(type) {
	case nil:
	case string:
		name = a
	default:
		return "", wrong(s.field("aggregator"), `write for example aggregator = "sum", and params = {…} beside it`, "an aggregator is named by a text")
	}
	if t.Params != nil && name == "" {
		return "", wrong(s.field("params"), "name the aggregator", "there are parameters and no aggregator")
	}
	return name, nil
}

// Job makes the job of a step of the type map.
func (s Step) Job(values Values) (Job, error) {
	left := MaxExpandedBytes
	return s.job(values, &left)
}

// job takes the length of what it makes from left.
func (s Step) job(values Values, left *int) (j Job, err error) {
	m := s.Map
	j = Job{Function: m.Function, Policy: m.Policy, Aggregator: m.Aggregator, Priority: m.Priority}
	if j.Partition, err = s.partition(values, left, &j); err != nil {
		return j, err
	}
	if j.Params, err = s.params(m.Params, values, left); err != nil {
		return j, err
	}
	if s.Type == StepProve {
		err = s.proving(&j, values, left)
	}
	return j, err
}

func (s Step) partition(values Values, left *int, j *Job) (spec partition.Spec, err error) {
	if s.Map.Source != nil {
		return itemsLater(), nil
	}
	if s.Rolling() { // the first job stands for all
		p, err := s.Plan(values)
		if err != nil {
			return spec, err
		}
		first, _ := p.Job(p.From)
		return partition.OfRange(first), nil
	}
	f := filler{s.field(string(s.Map.Kind)), values}
	if bounds, is := s.Map.Input.(map[string]any); is && s.Map.Kind == partition.KindRange {
		r, err := f.rangeOf(bounds)
		if err != nil {
			return spec, err
		}
		if s.calibrates(&r, bounds) {
			j.Calibrate = s.Map.Calibrate
		}
		return partition.OfRange(r), partitionError(f.field, r.Validate())
	}
	template, err := f.spec(s.Map.Kind, s.Map.Input)
	if err != nil {
		return spec, err
	}
	raw, err := f.json(template, left)
	if err != nil {
		return spec, err
	}
	return spec, partitionError(f.field, spec.UnmarshalJSON(raw))
}

// spec is the template of a partition's JSON form.
func (f filler) spec(kind partition.Kind, input any) (map[string]any, error) {
	switch x := input.(type) {
	case []any:
		return map[string]any{"kind": verbatim(kind), "values": x}, nil
	case map[string]any:
		if kind == partition.KindGrid {
			return map[string]any{"kind": verbatim(kind), "axes": axes(x)}, nil
		}
		template := maps.Clone(x)
		template["kind"] = verbatim(kind)
		return template, nil
	default:
		return nil, wrong(f.field, `write a list of values, or { object = "DIGEST" }`, "the input is neither a list nor a table")
	}
}

// axes are those of a grid. They are in the order of their names, since a table in TOML has none.
func axes(input map[string]any) []any {
	list := make([]any, 0, len(input))
	for _, name := range slices.Sorted(maps.Keys(input)) {
		list = append(list, map[string]any{"name": verbatim(name), "values": input[name]})
	}
	return list
}

// rangeOf reads from, to or length, and size.
func (f filler) rangeOf(input map[string]any) (r partition.Range, err error) {
	var length *big.Int
	for _, name := range slices.Sorted(maps.Keys(input)) {
		at := filler{f.field + "." + name, f.values}
		x, err := at.integer(input[name])
		if err != nil {
			return r, err
		}
		switch name {
		case "from":
			r.From = x
		case "to":
			r.To = x
		case "length":
			length = x
		case "size":
			r.Size = x
		default:
			return r, wrong(f.field, "there are from, to or length, and size", "there is no %s", brief(name))
		}
	}
	if r.From == nil || (r.To == nil) == (length == nil) {
		return r, wrong(f.field, `write for example { from = "{from}", length = "10^9" }`, "a range has from, and either to or length")
	}
	if length != nil {
		r.To = new(big.Int).Add(r.From, length)
	}
	switch {
	case r.Size != nil:
	case r.To.Cmp(r.From) > 0:
		r.Size = partition.ChooseSize(r.From, r.To)
	default: // which Validate refuses
		r.Size = big.NewInt(1)
	}
	return r, nil
}

// partitionError names the step's field in an error of a partition.
func partitionError(field string, err error) error {
	var refused *partition.Error
	if errors.As(err, &refused) {
		return wrong(field, refused.Hint, "%s", refused.Detail)
	}
	return err
}

// checkSteps refuses steps that could not run whatever the values are, and those that cannot run with the defaults, where each
// parameter has one. A value without a default is tried when a run is started.
func (d *Definition) checkSteps() error {
	values, whole, left := Values{}, true, MaxExpandedBytes
	for _, p := range d.Parameters {
		if p.Default == nil {
			whole = false
			continue
		}
		values[p.Name] = *p.Default
	}
	for _, s := range d.Steps {
		if s.Type == StepCheck {
			if err := d.checkCheck(s, values, whole); err != nil {
				return err
			}
			continue
		}
		if err := d.checkNames(s); err != nil {
			return err
		}
		if !whole {
			continue
		}
		if err := s.make(values, &left); err != nil {
			return err
		}
	}
	return nil
}

// checkCheck refuses a check that could not be decided; whole says that values has all parameters.
func (d *Definition) checkCheck(s Step, values Values, whole bool) error {
	if s.Check.Identity == nil {
		_, err := d.Compile(s)
		return err
	}
	if err := d.checkIdentity(s); err != nil || !whole {
		return err
	}
	return d.checkRanges(s, values)
}

// make makes what a step asks for, to refuse what it could not run with.
func (s Step) make(values Values, left *int) (err error) {
	switch s.Type {
	case StepCheck:
	case StepFold:
		_, err = s.params(s.Fold.Params, values, left)
	case StepReport:
		_, err = s.params(s.Report.Params, values, left)
	default:
		_, err = s.job(values, left)
	}
	return err
}

// checkNames refuses placeholders of parameters that there are not.
func (d *Definition) checkNames(s Step) error {
	known := Values{}
	for _, p := range d.Parameters {
		known[p.Name] = Value{of: TypeBoolean}
	}
	left := MaxExpandedBytes
	if s.IsJob() && s.Map.Source == nil {
		if _, err := (filler{s.field(string(s.Map.Kind)), known}).json(s.Map.Input, &left); err != nil {
			return err
		}
	}
	if _, err := (filler{s.field("rolling"), known}).json(s.Map.Rolling, &left); err != nil {
		return err
	}
	for _, params := range []map[string]any{s.Map.Params, s.Fold.Params, s.Report.Params, s.Prove.Params} {
		if _, err := s.params(params, known, &left); err != nil {
			return err
		}
	}
	return nil
}

// Jobs makes the jobs of all steps, to refuse values with which one of them could not run.
func (d *Definition) Jobs(values Values) error {
	left := MaxExpandedBytes
	for _, s := range d.Steps {
		if s.Check.Identity != nil {
			if err := d.checkRanges(s, values); err != nil {
				return err
			}
		}
		if err := s.make(values, &left); err != nil {
			return err
		}
	}
	return nil
}

// Digest is the text from which a version's digest is made: the file, and the meaning of its names.
func Digest(text []byte, pins ...[]byte) []byte {
	return bytes.Join(append([][]byte{text}, pins...), []byte{0})
}
