package base

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// The types of a job's events.
const (
	EventSubmitted         = "submitted"
	EventRunning           = "running" // every shard exists
	EventPage              = "page"    // a page is settled and folded
	EventAgentCaught       = "agent_caught"
	EventAgentReleased     = "agent_released"    // it was caught for nothing
	EventReview            = "review"            // a shard needs a person
	EventComparisonFailed  = "comparison_failed" // the validator failed at the answers to a shard
	EventShardFailed       = "shard_failed"
	EventFinding           = "finding"        // a heuristic found something in the results of a page
	EventScoringFailed     = "scoring_failed" // a heuristic failed at the results of a page
	EventAggregating       = "aggregating"
	EventAggregationFailed = "aggregation_failed" // the module of an aggregation is at fault
	EventHeld              = "held"               // nothing is left to do but to aggregate with a module that works
	EventReaggregating     = "reaggregating"      // a further aggregation was asked for
	EventReaggregated      = "reaggregated"       // its answer stands, after the job had ended
	EventReopened          = "reopened"           // an accepted shard is leased again
	EventFlagResolved      = "flag_resolved"      // a person has decided about a flag
	EventIncident          = "incident"           // it keeps final results of an agent that was caught later
	EventEnded             = "ended"              // the last one, but for follow-ups
	EventFollowUp          = "follow_up"
	EventSkipped           = "follow_up_skipped"
	EventPlanned           = "planned"        // a planner has answered: with jobs, or that the chain is over
	EventPlannerFailed     = "planner_failed" // the module of a rule is at fault
)

// MaxEvents is the largest page of events.
const MaxEvents = 1000

// AddEvent numbers an event under the job's row lock: a reader of number n has seen all before it.
func AddEvent(ctx context.Context, tx store.DB, job uuid.UUID, kind string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encoding event %s: %w", kind, err)
	}
	if _, err := store.Exec(ctx, tx, sql.AddEvent, job, kind, text); err != nil {
		return err
	}
	return Notify(ctx, tx, ChannelJobs, job)
}

// OrNotFound is for look-ups that found nothing, with or without an error.
func OrNotFound(err error, what string, id fmt.Stringer) error {
	if err != nil {
		return err
	}
	missing := functions.NotFound(what, id.String())
	if job, is := id.(uuid.UUID); is && what == "job" {
		missing.Job = job
	}
	return missing
}
