package insight

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/heuristics"
	"github.com/ostraka/ostraka/functions/insight/sql"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
)

type agentsForJob struct {
	Active    int64 // agents of the project that are not revoked
	Removed   int64 // that worked for it, and were removed
	Seen      int64 // of these, heard of in the last minute
	Isolated  int64 // of these, with the isolation that the job asks for
	Caught    int64 // of these, lent nothing
	Refused   int64 // of these, not caught, do not take the function now
	Excluded  int64 // of these, neither caught nor refusing it, have results in doubt in the job that this one runs again
	Isolation string
	Wasm      bool            // the function is in WebAssembly
	Runtime   string          // the platform of the runtime that it runs in; empty: it runs in what agents have
	Volumes   int64           // that the function wants
	Stocked   int64           // agents seen that have them all
	Lacking   []bundle.Volume // of them, those that no agent seen has
	Owners    int64           `db:"-"` // that are behind those which can be used
}

type leasesForJob struct {
	Wanted int64 // attempts that could be lent now
	Lent   int64 // attempts that are out
}

// usable are the agents that could take what waits, less those that are caught, refuse it or are excluded.
func (a agentsForJob) usable() int64 { return max(a.Isolated-a.Caught-a.Refused-a.Excluded, 0) }

// Explain says why a job is not done, and what would help. What is flagged comes last.
func (s *Service) Explain(ctx context.Context, project, id uuid.UUID) (functions.Explanation, error) {
	job, err := s.jobs.GetJob(ctx, project, id)
	if err != nil {
		return functions.Explanation{}, err
	}
	e, err := s.explain(ctx, project, job)
	if err != nil {
		return e, err
	}
	flags, err := s.flagsOfJob(ctx, project, id)
	if err != nil {
		return e, err
	}
	explainFlags(&e, id, flags)
	return e, s.explainArchive(ctx, project, job, &e)
}

func (s *Service) explain(ctx context.Context, project uuid.UUID, job functions.Job) (e functions.Explanation, err error) {
	id := job.ID
	if job.State.Ended() {
		e := explainEnded(job)
		explainIncidents(&e, job)
		return e, nil
	}
	var agents agentsForJob
	var leases leasesForJob
	var caught []uuid.UUID
	owners := []string{}      // that are caught
	refusing := []uuid.UUID{} // not null, of which no agent would be none
	var excluded []string
	var refusals []fleet.AgentRefusal
	var held *fleet.KillSwitch
	var failing trust.FailingComparisons
	var trouble aggregation.Trouble
	var scoring jobScoring
	var hold *functions.Reason
	var turn *functions.JobTurn
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if leases, _, err = store.One[leasesForJob](ctx, tx, sql.LeasesForJob, id); err != nil {
			return err
		}
		if caught, err = store.Values[uuid.UUID](ctx, tx, store.CaughtAgents); err != nil {
			return err
		}
		if owners, err = owner.ListCaught(ctx, tx); err != nil {
			return err
		}
		if excluded, err = jobs.ExcludedHands(ctx, tx, id); err != nil {
			return err
		}
		if refusals, err = store.Many[fleet.AgentRefusal](ctx, tx, store.RefusalsForJob, id); err != nil {
			return err
		}
		for _, r := range refusals {
			refusing = append(refusing, r.AgentID)
		}
		if failing, _, err = store.One[trust.FailingComparisons](ctx, tx, sql.FailingComparisons, id); err != nil {
			return err
		}
		if trouble, _, err = store.One[aggregation.Trouble](ctx, tx, sql.TroubleOfJob, id); err != nil {
			return err
		}
		if scoring, _, err = store.One[jobScoring](ctx, tx, sql.ScoringOfJob, id, functions.ServerAgent); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		if hold, err = heuristics.ExplainHold(ctx, server, job); err != nil {
			return err
		}
		if turn, err = dispatch.ReadTurn(ctx, server, job); err != nil {
			return err
		}
		if held, err = fleet.SwitchOver(ctx, server, project, job); err != nil {
			return err
		}
		agents, _, err = store.One[agentsForJob](ctx, server, sql.AgentsForJob, project, id, caught, refusing, excluded, owner.Hands(owners), wasm.Meter)
		return err
	})
	if err != nil {
		return functions.Explanation{}, err
	}
	tried, err := s.triedByAll(ctx, project, job, &agents, trust.UselessAgents{IDs: append(caught, refusing...), Hands: append(excluded, owner.Hands(owners)...), Conditions: job.Conditions})
	e = explainOpen(job, agents, leases, tried, refusals)
	if e.Turn = turn; turn != nil && leases.Wanted > 0 {
		e.Reasons = append(e.Reasons, functions.Reason{Code: "turn", Text: dispatch.TurnWords(*turn), Hint: "ostraka job set-priority changes a job's share of its project's turns, and ostraka project set --weight, by an operator, the project's"})
	}
	if audits, auditErr := s.outstandingAudits(ctx, project, id); auditErr == nil {
		audits.explain(&e, job)
	} else if err == nil {
		err = auditErr
	}
	if ownersErr := s.explainOwners(ctx, project, job, &e); err == nil {
		err = ownersErr
	}
	failing.Explain(&e)
	trouble.Explain(&e, job.ID)
	scoring.explain(&e, job)
	explainConditions(&e, job, s.env.Now())
	if job.Approval != nil {
		e.Reasons = append([]functions.Reason{waitsForApproval(*job.Approval)}, e.Reasons...)
	}
	if hold != nil {
		e.Reasons = append([]functions.Reason{*hold}, e.Reasons...)
	}
	if held != nil { // it comes before all other reasons
		e.Reasons = append([]functions.Reason{held.Explain()}, e.Reasons...)
	}
	return e, err
}

// heardOfLately is how long ago an agent was heard of at most for job explain to count on it. agents_for_job counts alike.
const heardOfLately = time.Minute

// triedByAll counts shards that wait for a further attempt though nobody is left who may take them, and the owners of the agents that can be
// used.
func (s *Service) triedByAll(ctx context.Context, project uuid.UUID, job functions.Job, agents *agentsForJob, useless trust.UselessAgents) (tried int64, err error) {
	if agents.usable() == 0 {
		return 0, nil
	}
	var left trust.UsableAgents
	err = s.env.Control(ctx, func(tx pgx.Tx) (err error) {
		left, err = trust.Usable(ctx, tx, project, job.ID, job.Policy, useless, heardOfLately)
		return err
	})
	if err != nil || len(left.IDs) == 0 {
		return 0, err
	}
	agents.Owners = left.Owners()
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		numbers, err := store.Values[int64](ctx, tx, store.StrandedShards, job.ID, left.IDs, left.Hands)
		tried = int64(len(numbers))
		return err
	})
	return tried, err
}

func explainEnded(job functions.Job) functions.Explanation {
	e := functions.Explanation{State: job.State, Reasons: []functions.Reason{}}
	switch job.State {
	case functions.JobFinished:
		e.Summary = fmt.Sprintf("The job is done: %d of %s accepted.", job.Shards.Accepted, base.Plural(job.Shards.Total, "shard was", "shards were"))
	case functions.JobFailed:
		e.Summary = "The job has failed."
		e.Reasons = append(e.Reasons, functions.Reason{Code: "failed", Text: job.Error, Hint: "ostraka job shards " + job.ID.String() + " --state failed lists the shards that failed; ostraka job shard shows what one of them raised"})
	case functions.JobDeleting:
		e.Summary = "The job is being deleted."
	default:
		e.Summary = "The job was cancelled."
		e.Reasons = append(e.Reasons, functions.Reason{Code: "cancelled", Text: job.Error})
	}
	return e
}

// explainOpen is a pure function of what was read.
func explainOpen(job functions.Job, agents agentsForJob, leases leasesForJob, tried int64, refusals []fleet.AgentRefusal) functions.Explanation {
	e := functions.Explanation{
		State: job.State, Reasons: []functions.Reason{},
		Summary: fmt.Sprintf("%d of %s settled.", job.Shards.Total-job.Shards.Open-job.Shards.Review, base.Plural(job.Shards.Total, "shard is", "shards are")),
	}
	add := func(code, hint, format string, args ...any) {
		e.Reasons = append(e.Reasons, functions.Reason{Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
	}
	if job.State == functions.JobSplitting {
		add("splitting", "", "Shards are still being made; lending does not wait for the last of them.")
	}
	switch {
	case job.State == functions.JobAggregating && job.Shards.Provisional > 0:
		add("aggregating", "", "All shards are settled, and %s not final yet: the answer is made when their audits have ended.", base.Plural(job.Shards.Provisional, "result is", "results are"))
	case job.State == functions.JobAggregating:
		add("aggregating", "", "All shards are settled; their results are being folded into the answer.")
	}
	if job.AggregationError != "" {
		look := ""
		if job.Aggregator != nil {
			look = "see ostraka module runs " + job.Aggregator.Module + " --failed --job " + job.ID.String() + "; "
		}
		add("aggregation_failed", look+"mend the module, push it, and fold the results again with ostraka job reaggregate "+job.ID.String()+"; no shard runs again",
			"%s", job.AggregationError)
	}
	if job.Shards.Review > 0 {
		add("review", "ostraka flag list --job "+job.ID.String()+", then ostraka flag show and ostraka flag resolve", "%s for a person: the agents do not agree, or they died too often.", base.Plural(job.Shards.Review, "shard waits", "shards wait"))
	}
	if leases.Lent > 0 {
		add("running", "", "%s out with agents or being weighed.", base.Plural(leases.Lent, "attempt is", "attempts are"))
	}
	if leases.Wanted > 0 {
		explainUnlent(add, job, agents, leases, tried)
		if agents.Caught > 0 {
			add("caught", "ostraka agent list names them; ostraka agent pardon AGENT --reason WHY takes back what speaks against one", "%d of %s caught, and are lent nothing.", agents.Caught, base.Plural(agents.Isolated, "agent was", "agents were"))
		}
		explainRefusals(add, agents, refusals)
	}
	if len(e.Reasons) == 0 && job.Shards.Open == 0 {
		add("settling", "", "The last results are being verified and folded.")
	}
	return e
}

func explainUnlent(add func(code, hint, format string, args ...any), job functions.Job, agents agentsForJob, leases leasesForJob, tried int64) {
	usable := agents.usable()
	switch {
	case agents.Active == 0 && agents.Removed > 0:
		add("no_agents", "ostraka agent list names them, and ostraka agent approve AGENT takes one back; where a bulk action has removed them, ostraka bulk list names it, and ostraka bulk undo BULK --reason TEXT takes all back",
			"%s to be lent, and the project has no agent: %s removed from it.", base.Plural(leases.Wanted, "attempt waits", "attempts wait"), base.Plural(agents.Removed, "agent was", "agents were"))
	case agents.Active == 0:
		add("no_agents", "create a token with ostraka enrolment-token create and start an agent with it: ostraka agent start", "%s to be lent, and the project has no agent.", base.Plural(leases.Wanted, "attempt waits", "attempts wait"))
	case agents.Seen == 0:
		add("agents_silent", "look whether the agents run and reach the server", "%s to be lent, and none of the project's agents (%d) was heard of in the last minute.", base.Plural(leases.Wanted, "attempt waits", "attempts wait"), agents.Active)
	case len(agents.Lacking) > 0:
		add(ReasonNoVolume, volumeHint, "%s to be lent, and %s.", base.Plural(leases.Wanted, "attempt waits", "attempts wait"), noAgentHas(agents.Lacking))
	case agents.Isolated == 0 && agents.Volumes > 0 && agents.Stocked == 0:
		add(ReasonNoVolume, volumeHint, "%s to be lent, and no agent has all of the %d volumes that the function wants.", base.Plural(leases.Wanted, "attempt waits", "attempts wait"), agents.Volumes)
	case agents.Isolated == 0 && agents.Wasm:
		add("no_wasm", "update the agents, or have their owners allow it (wasm_denied)", "%s to be lent, and no agent executes functions in WebAssembly with meter %d at isolation %q.", base.Plural(leases.Wanted, "attempt waits", "attempts wait"), wasm.Meter, agents.Isolation)
	case agents.Isolated == 0 && agents.Runtime != "":
		add("no_runtime", "start an agent on "+agents.Runtime+" with AVX2 at isolation linux, or have the owners of those that there are allow it (runtimes_denied)",
			"%s to be lent, and no agent executes functions in runtimes for %s at isolation %q.", base.Plural(leases.Wanted, "attempt waits", "attempts wait"), agents.Runtime, agents.Isolation)
	case agents.Isolated == 0:
		add("isolation", "start an agent with a stronger sandbox, or lower min_isolation in function.toml", "%s to be lent, and no agent has the isolation %q that the function asks for.", base.Plural(leases.Wanted, "attempt waits", "attempts wait"), agents.Isolation)
	case usable == 0 && agents.Refused > 0:
		add("refused_by_all", "see the refusals below: ask for less in function.toml, or have the agents' owners allow it", "%s to be lent, and every agent that could take them refuses the function (%d).", base.Plural(leases.Wanted, "attempt waits", "attempts wait"), agents.Refused)
	case usable == 0 && agents.Excluded > 0:
		add("all_excluded", "have others join: ostraka enrolment-token create NAME --owner WHO makes a token for the machines of one owner", "%s to be lent, and the owner of every agent that could take them (%d) has results in doubt in job %s, which this one runs again.", base.Plural(leases.Wanted, "attempt waits", "attempts wait"), agents.Excluded, job.RerunOf)
	case !job.Policy.None && usable < int64(job.Policy.Quorum):
		add("too_few_agents", "start more agents, or submit with a smaller quorum", "%s to be lent: a quorum of %d needs as many different agents, and %d can be used (%d were caught, %d refuse the function).", base.Plural(leases.Wanted, "attempt waits", "attempts wait"), job.Policy.Quorum, usable, agents.Caught, agents.Refused)
	case tried > 0 && job.Policy.TargetError > 0:
		add("tried_by_all", tooFewOwnersHint(job.Policy, agents.Volumes > 0),
			"%s for a further opinion, and every agent that can be used (%d) has tried: where no server executes shards, a result needs %d independent agents, and the %s. Answers that differ go to a person; those that agree wait.",
			base.Plural(tried, "shard waits", "shards wait"), usable, verify.Derive(job.Policy).Voices, agents.ofOwners())
	case tried > 0:
		add("tried_by_all", "start more agents, or cancel the job; a function whose answers differ from run to run never agrees with itself: compare the attempts with ostraka job shard "+job.ID.String()+" NUMBER",
			"%s for a further opinion, and every agent that can be used (%d) has tried: the answers do not agree.", base.Plural(tried, "shard waits", "shards wait"), usable)
	default:
		add("waiting", "", "%s for an agent that is free and has not tried the shard yet; %s be used.", base.Plural(leases.Wanted, "attempt waits", "attempts wait"), base.Plural(usable, "agent can", "agents can"))
	}
}

// ofOwners says who can be used.
func (a agentsForJob) ofOwners() string {
	return base.Plural(a.usable(), "agent that can be used belongs", "agents that can be used belong") + " to " + base.Plural(a.Owners, "owner", "owners") + " (agents that joined with one enrolment token are one owner's)"
}

// maxRefusalsExplained is how many refusals an explanation names; it says how many more there are.
const maxRefusalsExplained = 5

func explainRefusals(add func(code, hint, format string, args ...any), agents agentsForJob, refusals []fleet.AgentRefusal) {
	if agents.Refused == 0 {
		return
	}
	for _, r := range refusals[:min(len(refusals), maxRefusalsExplained)] {
		add("refused", "", "Agent %s refuses the function (%s): %s", r.AgentID, r.Code, r.Reason)
	}
	if more := len(refusals) - maxRefusalsExplained; more > 0 {
		add("refused", "", "%s it.", base.Plural(int64(more), "more agent refuses", "more agents refuse"))
	}
}
