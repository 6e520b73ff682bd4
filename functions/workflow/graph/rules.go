package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ostraka/ostraka/functions/planner"
)

// ruleTable is a rule for follow-up jobs as it is written.
type ruleTable struct {
	Name       string    `toml:"name"`
	OnFunction string    `toml:"on_function"`
	When       string    `toml:"when"`
	MaxDepth   int       `toml:"max_depth"`
	MaxJobs    int       `toml:"max_jobs"`
	Enabled    *bool     `toml:"enabled"`
	Then       thenTable `toml:"then"`
}

type thenTable struct {
	Function   string         `toml:"function"`
	Partition  string         `toml:"partition"`
	Planner    string         `toml:"planner"`
	Params     map[string]any `toml:"params"`
	Quorum     int            `toml:"quorum"`
	Aggregator string         `toml:"aggregator"`
}

// readRules reads [[rules]]. Functions are named as [functions] does.
func (d *Definition) readRules(tables []ruleTable) error {
	if len(tables) > MaxRules {
		return wrong("rules", "leave some out", "there are %d rules, and the limit is %d", len(tables), MaxRules)
	}
	for i, t := range tables {
		if !workflowName.MatchString(t.Name) {
			return wrong(fmt.Sprintf("rules[%d].name", i), "use 1 to 63 lower-case letters, digits and hyphens, starting with a letter", "%s is no name for a rule", brief(t.Name))
		}
		if slices.ContainsFunc(d.Rules, func(r planner.Rule) bool { return r.Name == t.Name }) {
			return wrong("rules", "choose another name for one of them", "there are two rules %s", brief(t.Name))
		}
		r, err := d.rule(t)
		if err != nil {
			return err
		}
		d.Rules = append(d.Rules, r)
	}
	return nil
}

func (d *Definition) rule(t ruleTable) (r planner.Rule, err error) {
	field := "rules." + t.Name
	r = planner.Rule{
		Name: t.Name, OnFunction: t.OnFunction, When: t.When, MaxDepth: t.MaxDepth, MaxJobs: t.MaxJobs, Enabled: t.Enabled == nil || *t.Enabled,
		Then: planner.Then{Function: t.Then.Function, Partition: t.Then.Partition, Planner: t.Then.Planner, Quorum: t.Then.Quorum, Aggregator: t.Then.Aggregator},
	}
	for _, named := range []struct{ in, function string }{{"on_function", r.OnFunction}, {"then.function", r.Then.Function}} {
		if _, found := d.Functions[named.function]; !found {
			return r, wrong(field+"."+named.in, "name a function as [functions] does", "there is no function %s", brief(named.function))
		}
	}
	if t.Then.Params != nil {
		left := MaxExpandedBytes
		if r.Then.Params, err = (filler{field + ".then.params", Values{}}).json(t.Then.Params, &left); err != nil {
			return r, err
		}
	}
	if err := cmpErrors(checkText(field+".when", r.When), checkText(field+".then.partition", r.Then.Partition), checkText(field+".then", r.Then.Planner+r.Then.Aggregator)); err != nil {
		return r, err
	}
	var mistake *planner.RuleError
	if _, err := planner.Compile(r); errors.As(err, &mistake) {
		return r, wrong(field, mistake.Hint, "%s: %s", mistake.Field, place(mistake))
	} else if err != nil {
		return r, wrong(field, "docs/follow-ups.md shows what a rule looks like", "%s", brief(err.Error()))
	}
	return r, nil
}

// SameRule tells whether two rules say the same.
func SameRule(a, b planner.Rule) bool {
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	other, err := json.Marshal(b)
	return err == nil && string(one) == string(other)
}
