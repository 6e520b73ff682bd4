package guardian

import (
	"cmp"
	"fmt"
	"slices"
)

// Policy is a set of rules of all layers. It may be used by several goroutines at once.
type Policy struct{ rules []*Compiled }

// NewPolicy puts rules together. The order in which they are given does not matter.
func NewPolicy(rules ...*Compiled) (*Policy, error) {
	counts := map[Layer]int{}
	seen := map[string]bool{}
	for _, c := range rules {
		layer, name := c.rule.Layer, c.rule.Name
		if counts[layer]++; counts[layer] > MaxRules {
			return nil, fmt.Errorf("the layer %s has more than %d rules: delete some, or put some together", layer, MaxRules)
		}
		key := string(layer) + "/" + name
		if seen[key] {
			return nil, fmt.Errorf("the layer %s has two rules with the name %s: give one of them another", layer, name)
		}
		seen[key] = true
	}
	p := &Policy{slices.Clone(rules)}
	slices.SortFunc(p.rules, func(a, b *Compiled) int {
		return cmp.Or(slices.Index(layers, a.rule.Layer)-slices.Index(layers, b.rule.Layer), cmp.Compare(a.rule.Name, b.rule.Name))
	})
	return p, nil
}

// Rules are those of the policy, by layer and name.
func (p *Policy) Rules() []Rule {
	list := make([]Rule, len(p.rules))
	for i, c := range p.rules {
		list[i] = c.rule
	}
	return list
}
