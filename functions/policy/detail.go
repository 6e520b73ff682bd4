package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/guardian"
)

// RecordedFindings is how many findings of a function a record keeps, the heaviest first.
const RecordedFindings = 20

// detail is what the log keeps of a decision. The names agent, job and function are those by which records are found.
type detail struct {
	Decision    guardian.Verdict     `json:"decision"`
	Operation   guardian.Kind        `json:"operation"`
	Risk        guardian.Risk        `json:"risk"`
	Layer       guardian.Layer       `json:"layer,omitempty"`
	Rule        string               `json:"rule,omitempty"`
	RuleVersion int64                `json:"rule_version,omitempty"`
	Reason      string               `json:"reason"`
	Conditions  *guardian.Conditions `json:"conditions,omitempty"`
	Applied     []string             `json:"applied,omitempty"`
	Overrides   []string             `json:"overrides,omitempty"`
	Approvals   []string             `json:"approvals,omitempty"` // that were used, or that it waits for
	Actor       guardian.Actor       `json:"by"`
	Facts       guardian.Facts       `json:"facts"`
	Findings    int                  `json:"findings,omitempty"`
	Policy      base.RuleVersions    `json:"policy"`
	Micros      int64                `json:"took_us"`
	Agent       string               `json:"agent,omitempty"`
	Job         string               `json:"job,omitempty"`
	Function    string               `json:"function,omitempty"`
}

func (j judged) detail() (json.RawMessage, error) {
	d := j.decision
	out := detail{
		Decision: d.Verdict, Operation: j.op.Kind, Risk: d.Risk, Reason: d.Reason, Approvals: d.Approvals, Actor: j.op.Actor, Policy: j.versions,
		Micros: j.took.Microseconds(),
	}
	if d.Rule != nil {
		out.Layer, out.Rule, out.RuleVersion = d.Rule.Layer, d.Rule.Name, d.Rule.Version
	}
	if !d.Conditions.Empty() {
		out.Conditions = &d.Conditions
	}
	for _, a := range d.Applied {
		out.Applied = append(out.Applied, fmt.Sprintf("%s/%s@%d", a.Layer, a.Name, a.Version))
		if a.Override != "" && !slices.Contains(out.Overrides, a.Override) {
			out.Overrides = append(out.Overrides, a.Override)
		}
	}
	out.keepFacts(j.op.Facts)
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encoding a decision about %s: %w", j.op.Kind, err)
	}
	return text, nil
}

// keepFacts keeps the facts with as many findings as a record has room for.
func (d *detail) keepFacts(facts guardian.Facts) {
	switch f := facts.(type) {
	case guardian.FunctionFacts:
		d.Function = f.Function.Name
		f.Findings, d.Findings = heaviest(f.Findings), len(f.Findings)
		d.Facts = f
	case guardian.JobFacts:
		d.Function, d.Job = f.Function.Name, f.Job.ID
		f.Findings, d.Findings = heaviest(f.Findings), len(f.Findings)
		d.Facts = f
	case guardian.DispatchFacts:
		d.Function, d.Job, d.Agent = f.Function.Name, f.Job.ID, f.Agent.ID
		f.Findings, d.Findings = heaviest(f.Findings), len(f.Findings)
		d.Facts = f
	case guardian.RecheckFacts:
		d.Function, d.Job = f.Function.Name, f.Job.ID
		f.Findings, d.Findings = heaviest(f.Findings), len(f.Findings)
		d.Facts = f
	case guardian.SandboxFacts:
		d.Function, d.Job = f.Function.Name, f.Job.ID
		f.Findings, d.Findings = heaviest(f.Findings), len(f.Findings)
		d.Facts = f
	case guardian.DecisionFacts:
		d.Function, d.Job = f.Decision.Function, f.Decision.Job
		d.Facts = f
	case guardian.AgentFacts:
		d.Agent = f.Agent.ID
		d.Facts = f
	default:
		d.Facts = facts
	}
}

func heaviest(all []guardian.Finding) []guardian.Finding {
	if len(all) <= RecordedFindings {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b guardian.Finding) int { return cmp.Compare(b.Weight, a.Weight) })
	return all[:RecordedFindings]
}
