package trust

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// claim is an attempt that ended without an answer, and whether somebody else gave one.
type claim struct {
	shard       int64
	agent       uuid.UUID
	unconfirmed bool
}

// claims are those of a shard; answered: it has an answer. What the server found itself is confirmed, whatever others say.
func (b bench) claims(shard int64, answered bool) (list []claim) {
	attempts := b.attempts[shard]
	for _, a := range attempts {
		if a.AgentID == functions.ServerAgent || a.Void || !a.Status.IsClaim() {
			continue
		}
		confirmed := slices.ContainsFunc(attempts, func(s attemptRow) bool {
			return s.AgentID == functions.ServerAgent && verify.Confirms(s.Status, a.Status)
		})
		list = append(list, claim{shard: shard, agent: a.AgentID, unconfirmed: answered && !confirmed})
	}
	return list
}

// weighClaims notes what a verdict says about attempts without an answer. One that leaves the shard open says nothing yet.
func (w *Weighed) weighClaims(b bench, shard ShardRow, v verify.Verdict) {
	switch {
	case v.Decision == verify.Accept && v.Divergence == "":
		w.claims = append(w.claims, b.claims(shard.Number, true)...)
	case v.Decision == verify.Fail:
		w.claims = append(w.claims, b.claims(shard.Number, false)...)
	}
}

// ClaimsIn counts results that are no answer: the agent says that it ran out of something.
func ClaimsIn(results []result.Checked) (n int) {
	for _, r := range results {
		if verify.Status(r.Status).IsClaim() {
			n++
		}
	}
	return n
}

// AnswersIn counts results that are to their agent's credit: an output has cost it something, an exception or a time-out that it reports
// perhaps nothing.
func AnswersIn(results []result.Checked) (n int) {
	for _, r := range results {
		if verify.Status(r.Status) == verify.OK {
			n++
		}
	}
	return n
}

// LoseClaims has an agent lose what it may hold by attempts that ended without an answer: what they are worth is not known yet.
func (s *Service) LoseClaims(ctx context.Context, tx *store.Tx, job, agent uuid.UUID, claims int64) error {
	type credit struct {
		Credit int64
		Idle   int
	}
	c, found, err := store.One[credit](ctx, tx, store.LockCredit, job, agent)
	if err != nil || !found {
		return err
	}
	_, err = store.Exec(ctx, tx, sql.LoseCredit, job, agent, verify.CreditAfter(c.Credit, 0, claims, s.firstLoan))
	return err
}

// noteClaims counts for each agent the attempts that ended without an answer where somebody else gave one, each once.
func (d Settlement) noteClaims(ctx context.Context, tx *store.Tx) (steps []functions.Step, err error) {
	n := len(d.claims)
	if n == 0 {
		return nil, nil
	}
	shards, agents, unconfirmed := make([]int64, n), make([]uuid.UUID, n), make([]bool, n)
	for i, c := range d.claims {
		shards[i], agents[i], unconfirmed[i] = c.shard, c.agent, c.unconfirmed
	}
	type changed struct {
		AgentID uuid.UUID
		Change  int64
	}
	rows, err := store.Many[changed](ctx, tx, sql.MarkUnconfirmed, d.Job, shards, agents, unconfirmed)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if _, err := store.Exec(ctx, tx, sql.AddUnconfirmed, d.Job, r.AgentID, r.Change); err != nil {
			return nil, err
		}
		if r.Change <= 0 {
			continue
		}
		claims, _, err := store.One[verify.Claims](ctx, tx, sql.ClaimsOfOwner, d.Job, r.AgentID, verify.ClaimsKept)
		if err != nil {
			return nil, err
		}
		if too, _ := claims.Quarantined(); too {
			steps = append(steps, stepargs.ClaimsArgs{Project: d.Project, Job: d.Job, Agent: r.AgentID})
		}
	}
	return steps, nil
}

// WeighClaims quarantines all agents of an owner that claims too often. It is a step of its own, since trust is locked in the order of agents.
func (s *Service) WeighClaims(ctx context.Context, args stepargs.ClaimsArgs) error {
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		claims, _, err := store.One[verify.Claims](ctx, tx, sql.ClaimsOfOwner, args.Job, args.Agent, verify.ClaimsKept)
		if err != nil {
			return err
		}
		too, reason := claims.Quarantined()
		if !too { // a pardon was quicker
			return nil
		}
		agents, err := store.Values[uuid.UUID](ctx, tx, sql.AgentsOfOwner, args.Job, args.Agent)
		if err != nil {
			return err
		}
		steps, caught, err := catchClaimers(ctx, tx, args, agents, reason)
		if err != nil {
			return err
		}
		for _, c := range caught {
			if err := ReportCaught(ctx, tx, args.Job, c); err != nil {
				return err
			}
		}
		return s.env.Enqueue(ctx, tx, steps...)
	})
	if err != nil {
		return fmt.Errorf("weighing the claims of agent %s: %w", args.Agent, err)
	}
	return nil
}

// catchClaimers marks those agents that are not caught yet. What they gave that is not final is made again, as of all who are caught.
func catchClaimers(ctx context.Context, tx *store.Tx, args stepargs.ClaimsArgs, agents []uuid.UUID, reason string) (steps []functions.Step, caught []CaughtAgent, err error) {
	for _, agent := range agents {
		row, _, err := store.One[trustRow](ctx, tx, sql.AddEvidence, agent, 0, 0, 0, 0, args.Job, 0)
		if err != nil {
			return nil, nil, err
		}
		if row.Caught {
			continue
		}
		if _, err := store.Exec(ctx, tx, sql.CatchAgent, agent, reason); err != nil {
			return nil, nil, err
		}
		if _, err := store.Exec(ctx, tx, sql.FailWindows, agent); err != nil {
			return nil, nil, err
		}
		caught = append(caught, CaughtAgent{trustRow: row, reason: reason})
		steps = append(steps, stepargs.RevokeArgs{Project: args.Project, Agent: agent}, stepargs.TaintArgs{Project: args.Project, Agent: agent, Reason: reason})
	}
	steps, err = withApart(ctx, tx, args.Project, steps, agents...)
	return steps, caught, err
}
