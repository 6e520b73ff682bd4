package guardian

import (
	"fmt"
	"reflect"
	"strings"

	"cel.dev/cel-go/cel"
	celtypes "cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"

	"github.com/ostraka/ostraka/runtime/expression"
)

// Compiled is a rule whose expression has been checked. It may be used by several goroutines at once.
type Compiled struct {
	rule Rule
	when cel.Program // nil: always
}

// Rule returns the rule that was compiled.
func (c *Compiled) Rule() Rule { return c.rule }

// Compile checks a rule and its expression. What is wrong with it is a *RuleError with its line and column, or several.
func Compile(rule Rule) (*Compiled, error) {
	if err := rule.check(); err != nil {
		return nil, err
	}
	c := &Compiled{rule: rule}
	if strings.TrimSpace(rule.When) == "" {
		return c, nil
	}
	if len(rule.When) > expression.MaxBytes {
		return nil, &RuleError{Field: "when", Detail: fmt.Sprintf("the expression has %d bytes, and the limit is %d", len(rule.When), expression.MaxBytes), Hint: "make several rules of it"}
	}
	env, err := environment(rule.On)
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	ast, issues := env.Compile(rule.When)
	if issues.Err() != nil {
		return nil, expression.Mistakes("when", issues, func(message string) (detail, hint string) { return explain(rule.On, message) })
	}
	if !ast.OutputType().IsExactType(cel.BoolType) {
		return nil, &RuleError{Field: "when", Detail: fmt.Sprintf("the expression gives %s, not bool", ast.OutputType()), Hint: "compare it with something"}
	}
	sizes := celtypes.NewSizeCalculator(celtypes.SizeCalculatorMaxTraversal(MemoryLimit)) // what CEL does not measure to the end it takes for endless
	if c.when, err = env.Program(ast,
		cel.CostLimit(CostLimit), cel.MemoryLimit(MemoryLimit), cel.MemoryTracking(celtypes.MemoryTrackerSizeCalculator(sizes)),
		cel.InterruptCheckFrequency(expression.InterruptCheckFrequency),
	); err != nil {
		return nil, &RuleError{Field: "when", Detail: "the expression cannot be prepared: " + err.Error(), Hint: "change the expression"}
	}
	return c, nil
}

// environment declares what an expression about these operations can name: the facts that all of them have.
func environment(on []Kind) (*cel.Env, error) {
	var types []any
	seen := map[reflect.Type]bool{}
	var variables []cel.EnvOption
	for name, t := range names(on) {
		structs(t, seen, &types)
		variables = append(variables, cel.Variable(name, typeOf(t)))
	}
	// The variables refer to the types, which must be known before.
	return expression.Environment(append([]cel.EnvOption{ext.NativeTypes(append(types, ext.ParseStructTag("json"))...)}, variables...)...)
}
