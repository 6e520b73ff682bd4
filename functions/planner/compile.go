package planner

// Compiled is a rule whose expressions have been checked. It may be used by
// several goroutines at once.
type Compiled struct {
	rule Rule
}

// Rule returns the rule that was compiled.
func (c *Compiled) Rule() Rule { return c.rule }

// Compile checks a rule and its expressions. An error in an expression shows
// its line and column.
func Compile(rule Rule) (*Compiled, error) {
	panic("not yet")
}
