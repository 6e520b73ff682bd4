package graph

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"github.com/ostraka/ostraka/functions/planner"
)

// FileName is what the definition of a workflow is called in its folder.
const FileName = "workflow.toml"

// StepType says what a step does.
type StepType string

// The types of steps.
const (
	StepMap    StepType = "map"    // a job
	StepCheck  StepType = "check"  // a condition over what the steps before it came to
	StepFold   StepType = "fold"   // the results of a job, folded again
	StepProve  StepType = "prove"  // a job whose results prove themselves
	StepReport StepType = "report" // a document out of what the steps before it came to
)

// Definition is a workflow as workflow.toml says it.
type Definition struct {
	Name        string
	Description string
	Parameters  []Parameter       // by name
	Functions   map[string]string // folders, by the names that steps use
	Modules     []ModuleFile      // in the folder
	Files       map[string]string // in the folder, by the names that steps use
	Rules       []planner.Rule    // whose functions are named as [functions] does
	Schedules   []Schedule        // that start runs
	Steps       []Step            // in an order in which they can run
}

// Step is a step of a workflow.
type Step struct {
	Name  string
	Type  StepType
	Needs []string // steps that must have finished, by name
	Map   MapStep  // of prove as well
	Check CheckStep

	Fold   FoldStep
	Prove  ProveStep
	Report ReportStep
}

// IsJob tells whether the step is a job over an input.
func (s Step) IsJob() bool { return s.Type == StepMap || s.Type == StepProve }

// Answers tells whether checks and reports see an answer of the step.
func (s Step) Answers() bool { return s.IsJob() || s.Type == StepFold }

// Runs is the function that the step runs, as [functions] names it; "": none.
func (s Step) Runs() string {
	if s.Type == StepReport {
		return s.Report.Function
	}
	return s.Map.Function
}

// CheckStep is a condition.
type CheckStep struct {
	When    string
	Message string // what is wrong where it does not hold
	// Identity takes the place of the condition: two answers are the same, and the server looks for the shard where they are not.
	Identity *Identity
}

// file is workflow.toml as it is written.
type file struct {
	Name        string                    `toml:"name"`
	Description string                    `toml:"description"`
	Parameters  map[string]parameterTable `toml:"parameters"`
	Functions   map[string]string         `toml:"functions"`
	Modules     map[string]moduleTable    `toml:"modules"`
	Planners    map[string]string         `toml:"planners"`
	Files       map[string]string         `toml:"files"`
	Rules       []ruleTable               `toml:"rules"`
	Schedules   []scheduleTable           `toml:"schedules"`
	Invariants  []stepTable               `toml:"invariants"`
	Steps       []stepTable               `toml:"steps"`
}

// stepTable is a step as it is written.
type stepTable struct {
	Name  string   `toml:"name"`
	Type  StepType `toml:"type"`
	Needs []string `toml:"needs"`

	When    string `toml:"when"`
	Message string `toml:"message"`

	Identity *identityTable `toml:"identity"`

	Function   string         `toml:"function"`
	Range      map[string]any `toml:"range"`
	Rolling    map[string]any `toml:"rolling"`
	Calibrate  map[string]any `toml:"calibrate"`
	Items      any            `toml:"items"`
	Grid       map[string]any `toml:"grid"`
	Lines      map[string]any `toml:"lines"`
	Objects    map[string]any `toml:"objects"`
	Policy     *Policy        `toml:"policy"`
	Aggregator any            `toml:"aggregator"`
	Params     map[string]any `toml:"params"`
	Priority   int            `toml:"priority"`

	Of              string         `toml:"of"`
	Module          string         `toml:"module"`
	File            string         `toml:"file"`
	Validator       string         `toml:"validator"`
	ValidatorParams map[string]any `toml:"validator_params"`
}

var (
	workflowName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
	// partName is a name that expressions can use.
	partName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
)

// Parse reads workflow.toml and checks all that can be checked without a server.
func Parse(text []byte) (*Definition, error) {
	d, err := Read(text)
	if err != nil {
		return nil, err
	}
	if err := d.checkSteps(); err != nil {
		return d, err
	}
	return d, d.checkSchedules()
}

// Read reads a workflow.toml that Parse has checked.
func Read(text []byte) (*Definition, error) {
	if len(text) > MaxDefinitionBytes {
		return nil, wrong(FileName, "write less", "the file has %d bytes, and the limit is %d", len(text), MaxDefinitionBytes)
	}
	f, err := read(text)
	if err != nil {
		return nil, err
	}
	d := &Definition{Name: f.Name, Description: f.Description, Functions: f.Functions}
	if !workflowName.MatchString(d.Name) {
		return nil, wrong("name", "use 1 to 63 lower-case letters, digits and hyphens, starting with a letter", "%s is no name for a workflow", brief(d.Name))
	}
	if len(d.Description) > MaxTextBytes {
		return nil, wrong("description", "write less", "the description has %d bytes, and the limit is %d", len(d.Description), MaxTextBytes)
	}
	if err := checkText("description", d.Description); err != nil {
		return nil, err
	}
	if err := d.readParameters(f.Parameters); err != nil {
		return nil, err
	}
	if err := cmpErrors(d.checkFunctions(), d.readModules(f.Modules, f.Planners), d.readFiles(f.Files), d.readRules(f.Rules), d.readSchedules(f.Schedules)); err != nil {
		return nil, err
	}
	invariants, err := checksOf(f.Invariants)
	if err != nil {
		return nil, err
	}
	return d, d.readSteps(append(f.Steps, invariants...))
}

// checkText refuses what people read or Postgres cannot keep: control characters, but for those of lines.
func checkText(field, text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r) }) {
		return wrong(field, "leave it out", "there is a control character in %s", brief(text))
	}
	return nil
}

// read decodes the file. Unknown keys are mistakes.
func read(text []byte) (f file, err error) {
	decoder := toml.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return f, notTOML(err)
	}
	return f, nil
}

func notTOML(err error) error {
	const hint = "mend the line; docs/workflows.md shows what a workflow looks like"
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		row, _ := unknown.Errors[0].Position()
		return wrong(FileName, hint, "line %d: there is no key %s", row, brief(strings.Join(unknown.Errors[0].Key(), ".")))
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, column := decode.Position()
		return wrong(FileName, hint, "line %d, column %d: %s", row, column, brief(decode.Error()))
	}
	return wrong(FileName, hint, "%s", brief(err.Error()))
}

func (d *Definition) readParameters(tables map[string]parameterTable) error {
	if len(tables) > MaxParameters {
		return wrong("parameters", "leave some out", "there are %d parameters, and the limit is %d", len(tables), MaxParameters)
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if !partName.MatchString(name) {
			return badPart("parameters", name)
		}
		p, err := tables[name].parameter(name)
		if err != nil {
			return err
		}
		d.Parameters = append(d.Parameters, p)
	}
	return nil
}

func badPart(field, name string) error {
	return wrong(field, "use 1 to 63 lower-case letters, digits and underscores, starting with a letter", "%s is no name", brief(name))
}

func (d *Definition) checkFunctions() error {
	if len(d.Functions) > MaxFunctions {
		return wrong("functions", "leave some out", "there are %d functions, and the limit is %d", len(d.Functions), MaxFunctions)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Functions)) {
		if !partName.MatchString(name) {
			return badPart("functions", name)
		}
		if folder := d.Functions[name]; folder == "" || len(folder) > MaxTextBytes || strings.ContainsRune(folder, 0) {
			return wrong("functions."+name, `write for example "functions/search"`, "there is no folder")
		}
	}
	return nil
}

func (d *Definition) readSteps(tables []stepTable) error {
	if len(tables) == 0 {
		return wrong("steps", "write [[steps]] with a name, a type and what it does", "a workflow has at least one step")
	}
	if len(tables) > MaxSteps {
		return wrong("steps", "put them into several workflows", "there are %d steps, and the limit is %d", len(tables), MaxSteps)
	}
	for i, t := range tables {
		step, err := t.step(i)
		if err != nil {
			return err
		}
		d.Steps = append(d.Steps, step)
	}
	ordered, err := order(d.Steps)
	if err != nil {
		return err
	}
	d.Steps = ordered
	return d.checkUse()
}

// checkUse refuses functions that no step runs, and steps that run what there is not.
func (d *Definition) checkUse() error {
	used := map[string]bool{}
	for _, s := range d.Steps {
		name := s.Runs()
		if _, found := d.Functions[name]; !found && (s.IsJob() || name != "") {
			return wrong(s.field("function"), "list its folder under [functions]", "there is no function %s", brief(name))
		}
		used[name] = true
	}
	for _, r := range d.Rules {
		used[r.Then.Function] = true
	}
	for _, name := range slices.Sorted(maps.Keys(d.Functions)) {
		if !used[name] {
			return wrong("functions."+name, "leave it out, or name it in a step", "no step runs the function")
		}
	}
	return cmpErrors(d.checkSources(), d.checkFiles(), d.checkCalibrations())
}

// field names a field of a step in messages.
func (s Step) field(name string) string { return "steps." + s.Name + "." + name }

func (t stepTable) step(i int) (s Step, err error) {
	if !partName.MatchString(t.Name) {
		return s, badPart(fmt.Sprintf("steps[%d].name", i), t.Name)
	}
	s = Step{Name: t.Name, Type: t.Type, Needs: t.Needs}
	switch t.Type {
	case StepMap:
		if err := t.only(s, "function", "range", "rolling", "calibrate", "items", "grid", "lines", "objects", "policy", "aggregator", "params", "priority"); err != nil {
			return s, err
		}
		s.Map, err = t.mapStep(s)
		return s, err
	case StepCheck:
		allowed := []string{"when", "message", "identity"}
		if t.Identity != nil {
			allowed = append(allowed, "policy")
		}
		if err := t.only(s, allowed...); err != nil {
			return s, err
		}
		s.Check = CheckStep{When: t.When, Message: t.Message}
		if s.Check.Identity, err = t.identity(s); err != nil {
			return s, err
		}
		if len(t.Message) > MaxTextBytes {
			return s, wrong(s.field("message"), "write less", "the message has %d bytes, and the limit is %d", len(t.Message), MaxTextBytes)
		}
		return s, cmp.Or(checkText(s.field("when"), t.When), checkText(s.field("message"), t.Message))
	case StepFold:
		s.Fold, err = t.foldStep(s)
		return s, err
	case StepProve:
		s.Map, s.Prove, err = t.proveStep(s)
		return s, err
	case StepReport:
		s.Report, err = t.reportStep(s)
		return s, err
	default:
		return s, wrong(s.field("type"), "choose map, check, fold, prove or report", "there is no type %s", brief(string(t.Type)))
	}
}
