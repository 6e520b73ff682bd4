package insight

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/insight/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/trust/execution"
)

// outstanding is what a job still waits for though its shards are answered.
type outstanding struct {
	Rechecks int64 // shards that the server is to execute
	Audits   int64 // that have not ended
	Hold     *execution.RecheckHold
	Trouble  string // why batches of the project could not be executed
	servers  fleet.RecheckTrouble
	budget   tenant.RecheckBudget
}

func (s *Service) outstandingAudits(ctx context.Context, project, job uuid.UUID) (o outstanding, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if o, _, err = store.One[outstanding](ctx, tx, sql.OutstandingAudits, job); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		if o.budget, err = s.tenant.ReadRecheckBudget(ctx, server, project); err != nil {
			return err
		}
		o.servers, err = fleet.ReadRecheckTrouble(ctx, server)
		return err
	})
	return o, err
}

func (o outstanding) explain(e *functions.Explanation, job functions.Job) {
	add := func(code, hint, format string, args ...any) {
		e.Reasons = append(e.Reasons, functions.Reason{Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
	}
	switch why := o.servers.Text(); {
	case o.Rechecks == 0:
	case o.servers.Servers == 0:
		add(ReasonRecheckNobody, functions.StartRechecker, "%d rechecks wait: no server executes shards.", o.Rechecks)
	case o.Hold != nil:
		e.Reasons = append(e.Reasons, recheckHeld(*o.Hold, o.Rechecks))
	case o.budget.IsSpent():
		e.Reasons = append(e.Reasons, o.budget.Explain(o.Rechecks))
	case why != "":
		add("recheck_delayed", fmt.Sprintf("they go on by themselves when it is mended; after %v without any server that can, a job with a target error asks further agents instead", functions.RecheckerGone), "%d rechecks wait: %s", o.Rechecks, why)
	case o.Trouble != "":
		add("recheck_delayed", "it is tried again with growing pauses; nothing is decided without it", "%d rechecks wait: %s", o.Rechecks, o.Trouble)
	default:
		add("rechecking", "", "%d shards wait for the server to execute them, or are being executed.", o.Rechecks)
	}
	if job.Shards.Provisional > 0 {
		add("provisional", "", "%d accepted results are not final yet: %d audits of their agents' results have not ended, and more are drawn when no shard is open.", job.Shards.Provisional, o.Audits)
	}
}

// explainIncidents says what an owner can do whose job keeps results of agents that were caught later.
func explainIncidents(e *functions.Explanation, job functions.Job) {
	v := job.Verification
	if v == nil || v.Incidents == 0 {
		return
	}
	e.Reasons = append(e.Reasons, functions.Reason{
		Code: "incident",
		Text: fmt.Sprintf("The answer holds %s of %s caught later. Few of them are wrong at most: the bound of %g counts them in.",
			base.Plural(v.Questionable, "final result", "final results"), base.Plural(v.Incidents, "agent that was", "agents that were"), v.ErrorBound),
		Hint: fmt.Sprintf("ostraka incident list --job %s, then ostraka incident show INCIDENT names the shards; ostraka job rerun %s makes the answer anew, without those agents and their owners' others", job.ID, job.ID),
	})
}
