package guardian

import (
	"context"
	"fmt"
	"slices"

	"cel.dev/cel-go/common/types"

	"github.com/ostraka/ostraka/runtime/expression"
)

// Decision is what was decided about an operation, and why. It is recorded before the operation happens.
type Decision struct {
	Verdict    Verdict    `json:"verdict"`
	Risk       Risk       `json:"risk"`
	Rule       *Applied   `json:"rule,omitempty"` // the one that was decisive; left out where no rule had anything against it
	Reason     string     `json:"reason"`
	Conditions Conditions `json:"conditions,omitzero"`
	Applied    []Applied  `json:"applied,omitempty"`   // every rule that applied, by layer and name
	Approvals  []string   `json:"approvals,omitempty"` // that were used, one for each rule that asked
	Digest     string     `json:"digest"`              // of the operation: what an approval is bound to
}

// Applied is a rule that applied.
type Applied struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Version  int64   `json:"version"`
	Layer    Layer   `json:"layer"`
	Then     Verdict `json:"then"`
	Reason   string  `json:"reason"`
	Failed   string  `json:"failed,omitempty"`   // why it could not be evaluated, and so denies
	Override string  `json:"override,omitempty"` // that lifts what it says
	Approval string  `json:"approval,omitempty"` // that answers what it asks
	risk     Risk
	keep     Conditions
}

// noRule is the reason of a decision against which no rule had anything.
const noRule = "no rule is against it"

// Decide says whether an operation may happen. An expression is interrupted when ctx ends, which denies.
func (p *Policy) Decide(ctx context.Context, o Operation, c Circumstances) Decision {
	digest, err := o.Digest()
	described, known := Describe(o.Kind)
	if err != nil || !known {
		return Decision{Verdict: Deny, Risk: Critical, Reason: fmt.Sprintf("what cannot be described does not happen: %v", err)}
	}
	d := Decision{Verdict: Allow, Risk: described.Risk, Reason: noRule, Digest: digest, Applied: p.apply(ctx, o, c)}
	for i := range d.Applied {
		a := &d.Applied[i]
		d.Risk = worse(d.Risk, a.risk)
		d.Conditions = Merge(d.Conditions, a.keep)
		said := a.Then
		switch {
		case a.Override != "":
			said = Allow
		case said == Ask && !described.Waits:
			said = Deny
		case said == Ask:
			if a.Approval = c.approved(digest, *a); a.Approval != "" {
				said, d.Approvals = Allow, append(d.Approvals, a.Approval)
			}
		}
		if stricter(said, d.Verdict) {
			d.Verdict, d.Rule, d.Reason = said, a, a.Reason
		}
	}
	if d.Verdict != Allow {
		d.Approvals = nil
	}
	if until := d.Conditions.ValidUntil; d.Verdict != Deny && !until.IsZero() && !c.Now.Before(until) {
		d.expired()
	}
	return d
}

// expired denies what may happen until a time that is over.
func (d *Decision) expired() {
	d.Verdict, d.Approvals = Deny, nil
	d.Reason = "it was allowed until " + d.Conditions.ValidUntil.UTC().Format("2006-01-02 15:04 MST")
	for i, a := range d.Applied {
		if a.keep.ValidUntil.Equal(d.Conditions.ValidUntil) {
			d.Rule = &d.Applied[i]
			return
		}
	}
}

// Asking are the rules that ask for a person's yes and have none: each wants its own.
func (d Decision) Asking() (list []Applied) {
	for _, a := range d.Applied {
		if a.Then == Ask && a.Override == "" && a.Approval == "" {
			list = append(list, a)
		}
	}
	return list
}

func stricter(a, b Verdict) bool { return slices.Index(verdicts, a) > slices.Index(verdicts, b) }

// apply finds the rules that apply.
func (p *Policy) apply(ctx context.Context, o Operation, c Circumstances) (list []Applied) {
	var seen map[string]any
	for _, rule := range p.rules {
		r := rule.rule
		if !r.Enabled || len(r.On) > 0 && !slices.Contains(r.On, o.Kind) {
			continue
		}
		if rule.when != nil && seen == nil {
			seen = values(o)
		}
		holds, err := rule.holds(ctx, seen)
		if !holds && err == nil {
			continue
		}
		a := Applied{ID: r.ID, Name: r.Name, Version: r.Version, Layer: r.Layer, Then: r.Then, Reason: r.Reason, risk: r.Risk, keep: r.Conditions}
		if err != nil {
			a.Then, a.Failed = Deny, err.Error()
			a.Reason = fmt.Sprintf("the rule %s could not be evaluated, and so denies: %s", r.Name, a.Failed)
			r.Then = Deny
		}
		a.Override = c.lifted(o, r)
		list = append(list, a)
	}
	return list
}

// holds tells whether the condition of a rule holds.
func (c *Compiled) holds(ctx context.Context, seen map[string]any) (bool, error) {
	if c.when == nil {
		return true, nil
	}
	value, _, err := c.when.ContextEval(ctx, seen)
	if err != nil {
		return false, fmt.Errorf("%s", expression.Brief(err.Error()))
	}
	holds, ok := value.(types.Bool)
	if !ok {
		return false, fmt.Errorf("it gave %s, not bool", value.Type().TypeName())
	}
	return bool(holds), nil
}
