package graph

import (
	"slices"

	"github.com/ostraka/ostraka/functions/partition"
)

// Flows tells whether the items of a step come while the step before still rolls.
func (s Step) Flows() bool { return s.Map.Source != nil && s.Map.Source.Flow }

// checkFlow refuses a step whose items could not flow. Such a step goes through the range of the step before it: a stretch of it for each of
// that step's jobs, with the items that this has found.
func (d *Definition) checkFlow(s Step) error {
	if !s.Flows() {
		return nil
	}
	field, of := s.field("items.flow"), d.Step(s.Map.Source.Step)
	const later = "leave flow out: the items come when that step has finished"
	switch {
	case s.Type != StepMap:
		return wrong(field, later, "items flow to a step of the type map only")
	case !of.Rolling() || of.Flows():
		return wrong(field, later+"; or give it rolling = { shards = 1024 }", "the step %s does not roll through a range", brief(of.Name))
	case len(s.Needs) != 1:
		return wrong(s.field("needs"), "leave the others out, or flow", "a step to which items flow needs the step that they come from, and no other")
	case slices.ContainsFunc(d.Steps, func(other Step) bool {
		return other.Name != s.Name && other.Flows() && other.Map.Source.Step == of.Name
	}):
		return wrong(field, "leave flow out in all but one of them", "the items of the step %s flow to several steps", brief(of.Name))
	}
	s.Map.Source.of = &of
	return nil
}

// Follower is the number of the step to which the items of another one flow; -1: there is none.
func (d *Definition) Follower(number int) int {
	return slices.IndexFunc(d.Steps, func(s Step) bool { return s.Flows() && s.Map.Source.Step == d.Steps[number].Name })
}

// itemsLater is the partition of a job whose items are given when it begins.
func itemsLater() partition.Spec { return partition.Spec{Kind: partition.KindItems} }

// Rolls tells whether a step is the one of that name, or goes through the range together with it.
func (d *Definition) Rolls(number int, name string) bool {
	s := d.Steps[number]
	if s.Name == name || s.Flows() && s.Map.Source.Step == name {
		return true
	}
	follower := d.Follower(number)
	return follower >= 0 && d.Steps[follower].Name == name
}
