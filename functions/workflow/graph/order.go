package graph

import (
	"slices"
	"strings"
)

// order puts steps into an order in which each comes after those that it needs, and otherwise as they were written. It refuses names
// that are given twice, needs that there are not, and circles, in which no step could ever begin.
func order(steps []Step) ([]Step, error) {
	left := map[string]Step{}
	for _, s := range steps {
		if _, twice := left[s.Name]; twice {
			return nil, wrong("steps", "choose another name for one of them", "there are two steps %s", brief(s.Name))
		}
		left[s.Name] = s
	}
	for _, s := range steps {
		if err := checkNeeds(s, left); err != nil {
			return nil, err
		}
	}
	ordered := make([]Step, 0, len(steps))
	for len(left) > 0 {
		before := len(ordered)
		for _, s := range steps {
			if _, waits := left[s.Name]; waits && !slices.ContainsFunc(s.Needs, func(n string) bool { _, waits := left[n]; return waits }) {
				ordered = append(ordered, s)
				delete(left, s.Name)
			}
		}
		if len(ordered) == before {
			return nil, wrong("steps", "take one of the needs away", "these steps wait for one another: %s", circle(left))
		}
	}
	return ordered, nil
}

func checkNeeds(s Step, all map[string]Step) error {
	for i, n := range s.Needs {
		if _, found := all[n]; !found {
			return wrong(s.field("needs"), "name a step of the workflow", "there is no step %s", brief(n))
		}
		if slices.Contains(s.Needs[:i], n) {
			return wrong(s.field("needs"), "name it once", "the step %s is named twice", brief(n))
		}
	}
	return nil
}

// circle is one way round, for a message: from any of the steps that are left on, each needs another one that is left.
func circle(left map[string]Step) string {
	var at string
	for name := range left {
		if at == "" || name < at {
			at = name
		}
	}
	var way []string
	for !slices.Contains(way, at) {
		way = append(way, at)
		needs := left[at].Needs
		at = needs[slices.IndexFunc(needs, func(n string) bool { _, found := left[n]; return found })]
	}
	return strings.Join(append(way[slices.Index(way, at):], at), " needs ")
}

// Before are the steps that have finished when a step begins: those that it needs, and those that they need.
func (d *Definition) Before(step Step) []string {
	before := map[string]bool{}
	for _, n := range step.Needs {
		before[n] = true
	}
	var names []string
	for _, s := range slices.Backward(d.Steps) { // each comes after those that it needs
		if !before[s.Name] {
			continue
		}
		names = append(names, s.Name)
		for _, n := range s.Needs {
			before[n] = true
		}
	}
	slices.Reverse(names)
	return names
}
