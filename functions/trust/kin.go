package trust

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
)

// taint drops the agent's windows at once, so that none of them passes while its results are taken back, and has them taken back. What was
// proven against one agent is held against all of its owner: their results are taken back as well, and looked at more closely.
func (d Settlement) taint(ctx context.Context, tx *store.Tx, agent uuid.UUID, c *Count) ([]functions.Step, error) {
	charged := c.AuditsFailed > 0 || c.Failed > 0
	if _, err := store.Exec(ctx, tx, sql.FailWindows, agent); err != nil {
		return nil, err
	}
	steps := []functions.Step{stepargs.TaintArgs{Project: d.Project, Agent: agent, Reason: c.Taint, Proven: charged}}
	of, _, err := store.Value[string](ctx, tx, sql.OwnerOfCursor, d.Job, agent)
	if err != nil {
		return nil, err
	}
	if of == "" || !charged {
		return withApart(ctx, tx, d.Project, steps, agent)
	}
	siblings, err := store.Values[uuid.UUID](ctx, tx, sql.FailSiblings, d.Job, agent, of)
	if err != nil {
		return nil, err
	}
	if steps, err = withApart(ctx, tx, d.Project, steps, append(siblings, agent)...); err != nil {
		return nil, err
	}
	caught, err := owner.IsCaught(ctx, tx, of) // by this agent, the second one of it; the gate of leases and who weighs results see it by the same evidence
	for _, s := range siblings {
		reason := fmt.Sprintf("agent %s of the same owner: %s", agent, c.Taint)
		steps = append(steps, stepargs.TaintArgs{Project: d.Project, Agent: s, Reason: reason, Kin: true})
		if caught {
			steps = append(steps, stepargs.RevokeArgs{Project: d.Project, Agent: s})
		}
	}
	return steps, err
}
