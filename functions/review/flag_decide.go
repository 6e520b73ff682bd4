package review

import (
	"fmt"
	"slices"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/verify"
)

// What can be decided about a flag.
const (
	FlagAccept  = "accept"  // a group of attempts, named by the digest of its output, is right
	FlagReject  = "reject"  // the shard is given up
	FlagRerun   = "rerun"   // the shard is leased again
	FlagRecheck = "recheck" // the server executes the shard
	FlagPardon  = "pardon"  // what the project holds against the agent is taken back
	FlagDismiss = "dismiss" // somebody has looked, and nothing is to be done
)

// FlagDecision is something that can be decided about a flag.
type FlagDecision struct {
	Decision string `json:"decision" enum:"accept,reject,rerun,recheck,pardon,dismiss"`
	Digest   string `json:"digest,omitempty" doc:"With accept: the group's."`
	Effect   string `json:"effect" doc:"What it will do."`
}

// decisionsOf lists what can be decided about a flag now. It is pure: the decision itself is checked again under the locks.
func decisionsOf(d FlagDetail, job functions.JobState) []FlagDecision {
	list := []FlagDecision{}
	add := func(decision, format string, args ...any) {
		list = append(list, FlagDecision{Decision: decision, Effect: fmt.Sprintf(format, args...)})
	}
	switch {
	case d.Item != nil && flag.WaitsForDecision(d.Kind) && d.Item.State == functions.ShardReview:
		return decisionsInReview(*d.Item)
	case d.Item != nil && flag.WaitsForDecision(d.Kind) && d.Item.State == functions.ShardAccepted && !job.Ended():
		add(FlagRerun, "Takes shard %d back: what was folded of it is dropped, and it is lent once more.", d.Item.Number)
	case flag.WaitsForDecision(d.Kind) && d.Shard == nil && !job.Ended():
		add(FlagRerun, "Lends every shard of the job that waits for a person once more, up to %d at a time.", MaxResolveAll)
		add(FlagReject, "Gives up every shard of the job that waits for a person, up to %d at a time, and the job with them.", MaxResolveAll)
	}
	if d.Kind == flag.FlagCaught && d.Agent != nil && d.State == FlagOpen {
		add(FlagPardon, "Takes back what the project holds against agent %s: it is lent work again, on probation. What was taken back from it stays so.", *d.Agent)
	}
	if d.State == FlagOpen {
		add(FlagDismiss, "Closes the flag; nothing else changes. If it happens again there is a new one.")
	}
	return list
}

func decisionsInReview(item FlagItem) []FlagDecision {
	var list []FlagDecision
	for _, g := range item.Groups {
		if g.Status != string(verify.OK) || g.Digest == "" {
			continue
		}
		list = append(list, FlagDecision{Decision: FlagAccept, Digest: g.Digest, Effect: fmt.Sprintf(
			"Takes this output, which %s gave, as the result of shard %d. Nobody's trust changes.", g.givers(), item.Number)})
	}
	return append(list,
		FlagDecision{Decision: FlagRerun, Effect: fmt.Sprintf("Lends shard %d once more, to an agent that has not tried it. The attempts that are there count on.", item.Number)},
		FlagDecision{Decision: FlagRecheck, Effect: fmt.Sprintf("Has the server execute shard %d itself: its answer decides.", item.Number)},
		FlagDecision{Decision: FlagReject, Effect: fmt.Sprintf("Gives shard %d up, and the job with it: it fails when nothing else is open.", item.Number)})
}

// givers says who gave an answer.
func (g AnswerGroup) givers() string {
	agents := len(g.Agents)
	if g.Server {
		agents--
	}
	text := fmt.Sprintf("%d agents", agents)
	if agents == 1 {
		text = "one agent"
	}
	switch {
	case g.Server && agents == 0:
		return "the server alone"
	case g.Server:
		return text + " and the server"
	default:
		return text
	}
}

// mayDecide refuses a decision that the flag does not offer, and says what it does.
func mayDecide(d FlagDetail, job functions.JobState, decision string) error {
	offered := decisionsOf(d, job)
	if slices.ContainsFunc(offered, func(o FlagDecision) bool { return o.Decision == decision }) {
		return nil
	}
	if decision == FlagAccept && d.Item != nil && d.Item.State == functions.ShardReview {
		return functions.Invalid("no_such_output", "no attempt of the shard has an output", "have it executed again, or give it up")
	}
	var names []string
	for _, o := range offered {
		if !slices.Contains(names, o.Decision) {
			names = append(names, o.Decision)
		}
	}
	hint := "nothing is left to decide about it"
	if len(names) > 0 {
		hint = fmt.Sprintf("what can be decided now: %v", names)
	}
	return &functions.Error{Kind: functions.KindConflict, Code: "not_offered", Message: fmt.Sprintf("%q cannot be decided about this flag now", decision), Hint: hint}
}
