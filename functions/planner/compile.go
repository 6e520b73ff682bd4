package planner

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/expression"
)

// Compiled is a rule whose expressions have been checked. It may be used by
// several goroutines at once.
type Compiled struct {
	rule      Rule
	when      cel.Program
	partition cel.Program
}

// Rule returns the rule that was compiled, with its defaults filled in.
func (c *Compiled) Rule() Rule { return c.rule }

// Compile checks a rule and its expressions. What is wrong with the rule is a
// *RuleError; an error in an expression shows its line and column.
func Compile(rule Rule) (*Compiled, error) {
	if err := checkRule(rule); err != nil {
		return nil, err
	}
	if rule.MaxDepth == 0 {
		rule.MaxDepth = DefaultMaxDepth
	}
	if rule.MaxJobs == 0 {
		rule.MaxJobs = DefaultMaxJobs
	}
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	c := &Compiled{rule: rule}
	if c.when, err = rules.compile(env, "when", rule.When, cel.BoolType); err != nil {
		return nil, err
	}
	if rule.Then.Planner != "" {
		return c, nil
	}
	shape := cel.MapType(cel.StringType, cel.DynType)
	if c.partition, err = rules.compile(env, "then.partition", rule.Then.Partition, shape); err != nil {
		return nil, err
	}
	return c, nil
}

func checkRule(rule Rule) error {
	depth, jobs := HardMaxDepth, HardMaxJobs
	if rule.Then.Planner != "" {
		depth, jobs = HardPlannerDepth, HardPlannerJobs
	}
	for _, number := range []struct {
		field       string
		value, most int
		what        string
	}{
		{"max_depth", rule.MaxDepth, depth, "the depth"},
		{"max_jobs", rule.MaxJobs, jobs, "the number of jobs"},
		{"then.quorum", rule.Then.Quorum, verify.MaxQuorum, "the quorum"},
	} {
		if number.value < 0 || number.value > number.most {
			return &RuleError{Field: number.field, Detail: fmt.Sprintf("%s is %d", number.what, number.value), Hint: fmt.Sprintf("use 1 to %d, or leave it out for the default", number.most)}
		}
	}
	switch {
	case rule.Then.Function == "":
		return &RuleError{Field: "then.function", Detail: "the follow-up has no function", Hint: "name a function of this project"}
	case rule.Then.Version < 0:
		return &RuleError{Field: "then.version", Detail: "the version is negative", Hint: "give a version from 1, or leave it out for the newest"}
	}
	return checkPlanner(rule.Then)
}

func checkPlanner(then Then) error {
	if then.Planner == "" {
		if len(then.Params) > 0 {
			return &RuleError{Field: "then.params", Detail: "there are parameters and no planner", Hint: "name a planner, or leave them out"}
		}
		return nil
	}
	if then.Partition != "" {
		return &RuleError{Field: "then.partition", Detail: "the rule has a partition and a planner", Hint: "leave one of them out"}
	}
	if _, _, err := ParsePlanner(then.Planner); err != nil {
		return &RuleError{Field: "then.planner", Detail: err.Error(), Hint: "write the name of a module of the kind planner, or name@version"}
	}
	return nil
}

// environment declares what expressions see. Each name is a variable of its
// own, so that a name that does not exist is found before any job runs.
func environment() (*cel.Env, error) {
	variables := []cel.EnvOption{cel.Variable("aggregate.value", cel.DynType)}
	for _, name := range []string{"job.id", "job.function", "job.state"} {
		variables = append(variables, cel.Variable(name, cel.StringType))
	}
	for _, name := range []string{
		"job.version", "job.depth", "job.attempts",
		"job.shards.total", "job.shards.accepted", "job.shards.failed", "aggregate.count",
	} {
		variables = append(variables, cel.Variable(name, cel.IntType))
	}
	for name, value := range (Metrics{}).named() {
		variables = append(variables, cel.Variable(name, typeOf(value)))
	}
	return expression.Environment(variables...)
}

func typeOf(metric any) *cel.Type {
	switch metric.(type) {
	case int64:
		return cel.IntType
	case float64:
		return cel.DoubleType
	default:
		return cel.MapType(cel.StringType, cel.DoubleType)
	}
}

func (l language) compile(env *cel.Env, field, text string, want *cel.Type) (cel.Program, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return nil, &RuleError{Field: field, Detail: "the expression is empty", Hint: "write a CEL expression of type " + want.String()}
	case len(text) > MaxExpressionBytes:
		return nil, &RuleError{Field: field, Detail: fmt.Sprintf("the expression has %d bytes, and the limit is %d", len(text), MaxExpressionBytes), Hint: l.short}
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, l.mistakes(field, issues)
	}
	if got := ast.OutputType(); got.Kind() != want.Kind() && got.Kind() != cel.DynKind {
		return nil, &RuleError{Field: field, Detail: fmt.Sprintf("the expression gives %s, not %s", got, want), Hint: "change the expression"}
	}
	// An aggregate may nest as deep as any JSON; the default would refuse more
	// than 5 levels or 10,000 values.
	sizes := types.NewSizeCalculator(types.SizeCalculatorMaxDepth(2*canonical.MaxDepth), types.SizeCalculatorMaxTraversal(MemoryLimit))
	program, err := env.Program(ast,
		cel.CostLimit(l.cost),
		cel.MemoryLimit(MemoryLimit),
		cel.MemoryTracking(types.MemoryTrackerSizeCalculator(sizes)),
		cel.InterruptCheckFrequency(expression.InterruptCheckFrequency))
	if err != nil {
		return nil, &RuleError{Field: field, Detail: "the expression cannot be prepared: " + err.Error(), Hint: "change the expression"}
	}
	return program, nil
}
