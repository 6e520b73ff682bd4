package guardian

import (
	"slices"
	"time"
)

// Override is an exception from rules that ask or deny: explicit, with a reason, a scope and an end. It lifts what the operator's and the
// project's rules say, and what a built-in rule asks; never what a built-in rule denies, nor what the owner of a machine has said.
type Override struct {
	ID      string    `json:"id"`
	Rule    string    `json:"rule"`            // the name of the rule; empty: every rule
	Layer   Layer     `json:"layer,omitempty"` // of that rule; empty: any
	Kinds   []Kind    `json:"kinds,omitempty"` // empty: every operation
	Project string    `json:"project"`         // empty: every project
	Subject string    `json:"subject"`         // empty: every subject
	Reason  string    `json:"reason"`
	By      string    `json:"by"`
	From    time.Time `json:"from"`
	Until   time.Time `json:"until"`
}

// Approval is a person's yes to what one rule, in one version, asked about one operation. It lifts nothing that another rule asks.
type Approval struct {
	ID      string    `json:"id"`
	Digest  string    `json:"digest"` // of the operation: Operation.Digest
	Layer   Layer     `json:"layer"`  // of the rule
	Rule    string    `json:"rule"`   // its name
	Version int64     `json:"version"`
	By      string    `json:"by"`
	Reason  string    `json:"reason"`
	Expires time.Time `json:"expires"`
}

// Circumstances are what a decision depends on besides the operation and the rules.
type Circumstances struct {
	Now       time.Time
	Overrides []Override
	Approvals []Approval
}

// covers tells whether an override is in force for what a rule says of an operation.
func (v Override) covers(o Operation, r Rule, now time.Time) bool {
	switch {
	case r.Layer == OwnerLayer, r.Layer == Builtin && r.Then == Deny:
		return false
	case now.Before(v.From) || !now.Before(v.Until):
		return false
	}
	return (v.Rule == "" || v.Rule == r.Name) && (v.Layer == "" || v.Layer == r.Layer) && (len(v.Kinds) == 0 || slices.Contains(v.Kinds, o.Kind)) &&
		(v.Project == "" || v.Project == o.Project) && (v.Subject == "" || v.Subject == o.Subject)
}

// approved is the approval that is in force for what a rule asks about an operation.
func (c Circumstances) approved(digest string, rule Applied) (id string) {
	if rule.Layer == OwnerLayer {
		return ""
	}
	for _, a := range c.Approvals {
		if a.Digest == digest && digest != "" && a.answers(rule) && c.Now.Before(a.Expires) {
			return a.ID
		}
	}
	return ""
}

// answers tells whether it is the answer to this version of this rule.
func (a Approval) answers(rule Applied) bool {
	return a.Layer == rule.Layer && a.Rule == rule.Name && a.Version == rule.Version
}

// lifted is the override that is in force for what a rule says of an operation.
func (c Circumstances) lifted(o Operation, r Rule) (id string) {
	if r.Then == Allow {
		return ""
	}
	for _, v := range c.Overrides {
		if v.covers(o, r, c.Now) {
			return v.ID
		}
	}
	return ""
}
