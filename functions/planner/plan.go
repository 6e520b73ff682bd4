package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/ostraka/ostraka/functions/partition"
)

// Plan applies rules to a finished job. existing are the follow-ups that
// already exist under the same root job, whatever rule and parent they have.
// Every rule leads to exactly one follow-up, one question for its planner or one
// skip, in the order of the rules. An expression is interrupted when ctx ends, which is a skip with
// SkipError; without a deadline the limits end every expression within some
// seconds.
//
// Planning is harmless to repeat: with the follow-ups of the first time in
// existing, the second time leads to none of them again.
func Plan(ctx context.Context, rules []*Compiled, job Finished, existing []Key) ([]FollowUp, []Ask, []Skip) {
	p := plan{ctx: ctx, job: job, keys: slices.Clone(existing)}
	for _, rule := range rules {
		p.apply(rule)
	}
	return p.followUps, p.asks, p.skips
}

type plan struct {
	ctx       context.Context
	job       Finished
	keys      []Key          // of all follow-ups under the root
	inputs    map[string]any // what expressions see, once it is needed
	followUps []FollowUp
	asks      []Ask
	skips     []Skip
}

func (p *plan) apply(c *Compiled) {
	key := Key{Rule: c.rule.ID, Parent: p.job.Job.ID}
	if reason, detail := p.refuse(c.rule, key); reason != "" {
		p.skip(c.rule, reason, detail)
		return
	}
	applies, err := p.when(c)
	if err != nil {
		p.skip(c.rule, SkipError, err.Error())
		return
	}
	if !applies {
		p.skip(c.rule, SkipWhenFalse, "its condition does not hold for this job")
		return
	}
	if c.rule.Then.Planner != "" {
		p.asks = append(p.asks, Ask{Rule: c.rule, Key: key})
		return
	}
	spec, err := p.partition(c)
	if err != nil {
		p.skip(c.rule, SkipError, err.Error())
		return
	}
	p.keys = append(p.keys, key)
	p.followUps = append(p.followUps, FollowUp{
		Key: key, RuleName: c.rule.Name, RootID: p.job.Job.RootID, Depth: p.job.Job.Depth + 1,
		Function: c.rule.Then.Function, Version: c.rule.Then.Version, Partition: spec,
		Quorum: c.rule.Then.Quorum, Aggregator: c.rule.Then.Aggregator,
	})
}

func (p *plan) skip(rule Rule, reason SkipReason, detail string) {
	p.skips = append(p.skips, Skip{Rule: rule.ID, RuleName: rule.Name, Reason: reason, Detail: detail})
}

// refuse applies what needs no expression.
func (p *plan) refuse(rule Rule, key Key) (SkipReason, string) {
	job := p.job.Job
	switch {
	case !rule.Enabled:
		return SkipDisabled, "the rule is switched off; enable it to use it"
	case rule.OnFunction != "" && rule.OnFunction != job.Function:
		return SkipOtherFunction, fmt.Sprintf("the rule is for jobs of %s", rule.OnFunction)
	case rule.Then.Planner != "" && slices.ContainsFunc(p.keys, func(k Key) bool { return k.Rule == key.Rule && k.Parent == key.Parent }):
		return "", "" // it has answered: what is missing of its jobs is made
	case slices.Contains(p.keys, key):
		return SkipPlanned, "the rule has made its follow-up of this job already"
	case job.Depth >= rule.MaxDepth:
		return SkipDepthLimit, fmt.Sprintf("the job has depth %d, and the rule's max_depth is %d", job.Depth, rule.MaxDepth)
	case p.madeBy(rule.ID) >= rule.MaxJobs:
		return SkipCountLimit, fmt.Sprintf("the rule has made %d follow-ups under the root job, and its max_jobs is %d", p.madeBy(rule.ID), rule.MaxJobs)
	case rule.Then.Planner == "" && len(p.keys) >= HardMaxJobs, len(p.keys) >= HardPlannerJobs:
		return SkipCountLimit, fmt.Sprintf("the root job has %d follow-ups, the most that one may have", len(p.keys))
	}
	return "", ""
}

func (p *plan) madeBy(rule string) (count int) {
	for _, key := range p.keys {
		if key.Rule == rule {
			count++
		}
	}
	return count
}

func (p *plan) when(c *Compiled) (bool, error) {
	value, err := p.evaluate("when", c.when)
	if err != nil {
		return false, err
	}
	applies, ok := value.(types.Bool)
	if !ok {
		return false, fmt.Errorf("when: the expression gave %s, not bool: compare it with something", value.Type().TypeName())
	}
	return bool(applies), nil
}

func (p *plan) partition(c *Compiled) (partition.Spec, error) {
	var spec partition.Spec
	value, err := p.evaluate("then.partition", c.partition)
	if err != nil {
		return spec, err
	}
	text, err := toJSON(value)
	if err != nil {
		return spec, fmt.Errorf("then.partition: %w", err)
	}
	if err := spec.UnmarshalJSON(text); err != nil {
		return spec, fmt.Errorf("then.partition: %w%s", err, adviceFor(err))
	}
	return spec, nil
}

// adviceFor translates the advice to quote a number into CEL.
func adviceFor(err error) string {
	var refused *partition.Error
	if errors.As(err, &refused) && slices.Contains([]string{"from", "to", "size"}, refused.Field) {
		return "; in CEL, string(x) makes a decimal string of a number and leaves a string as it is"
	}
	return ""
}

func (p *plan) evaluate(field string, program cel.Program) (ref.Val, error) {
	if p.inputs == nil {
		inputs, err := inputsOf(p.job)
		if err != nil {
			return nil, err
		}
		p.inputs = inputs
	}
	value, _, err := program.ContextEval(p.ctx, p.inputs)
	if err != nil {
		return nil, rules.failed(field, err)
	}
	return value, nil
}

// maxSeen bounds each value that Seen returns, in bytes of JSON.
const maxSeen = 256

// Seen are the values that a rule's condition names, cut to what people read.
func Seen(rule Rule, job Finished) map[string]string {
	seen := map[string]string{}
	inputs, err := inputsOf(job)
	if err != nil {
		return seen
	}
	for name, value := range inputs {
		if !names(rule.When, name) {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			continue
		}
		if len(text) > maxSeen {
			text = append([]byte(strings.ToValidUTF8(string(text[:maxSeen]), "")), "…"...)
		}
		seen[name] = string(text)
	}
	return seen
}

// names says whether an expression has a name that does not continue.
func names(expression, name string) bool {
	for rest := expression; ; {
		_, after, found := strings.Cut(rest, name)
		if !found {
			return false
		}
		if after == "" || !strings.ContainsRune("_abcdefghijklmnopqrstuvwxyz0123456789", rune(after[0])) {
			return true
		}
		rest = after
	}
}
