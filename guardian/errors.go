package guardian

import "github.com/ostraka/ostraka/runtime/expression"

// RuleError says which field of a rule is wrong, where, and what to do.
type RuleError = expression.Error
