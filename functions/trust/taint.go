package trust

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// reasonTainted stands beside the reasons of package verify: it does not come from the shard's own results.
const reasonTainted verify.ReasonCode = "tainted"

type taintedShard struct {
	JobID    uuid.UUID
	Number   int64
	AgentID  uuid.UUID // whose result it was accepted with
	State    functions.ShardState
	JobState functions.JobState
	Lent     int
	Awaits   int64
	Support  int
	Audited  bool // an audit of it has not ended
}

// Taint opens the agent's results again, a page at a time, in all jobs of the project, and lists those that stay all the same.
func (s *Service) Taint(ctx context.Context, args stepargs.TaintArgs) error {
	if args.Kin {
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
			_, err := store.Exec(ctx, tx, sql.ResetProbation, args.Agent)
			return err
		})
		if err != nil {
			return fmt.Errorf("putting agent %s on probation: %w", args.Agent, err)
		}
	}
	mine := base.NewSlice()
	for more := true; more; {
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
			rows, err := store.Many[taintedShard](ctx, tx, sql.TaintPage, args.Agent, int64(partition.PageSize))
			if more = len(rows) > 0; err != nil || !more {
				return err
			}
			if _, err := store.Exec(ctx, tx, sql.VoidAttempts, rows[0].JobID, numbersOf(rows), args.Agent); err != nil {
				return err
			}
			return s.settle(ctx, tx, Settlement{
				Project: args.Project, Job: rows[0].JobID, Weighed: reopenTainted(args, rows), tainted: &args.Agent, Reopened: "an agent was caught: " + args.Reason,
			})
		})
		if err != nil {
			return fmt.Errorf("opening results of agent %s again: %w", args.Agent, err)
		}
		if err := mine.Over(); err != nil && more {
			return err
		}
	}
	if err := s.reportFinal(ctx, args); err != nil {
		return err
	}
	if !args.Kin {
		s.env.Observe.Caught()
	}
	return nil
}

// reopenFinal opens the agent's final results in a job again, a page at a time, but for those that the server gave as well: the job still
// runs, and they are no better than those that were not final yet.
//
// Where nothing waits for audits (no bound) all are final from the start, and controls alone find out who lies: see given_page.sql.
func (s *Service) reopenFinal(ctx context.Context, args stepargs.TaintArgs, job tracedJob) error {
	page, void := sql.FinalPage, sql.VoidAttempts
	if !job.Bounded {
		page, void = sql.GivenPage, sql.VoidChargedAttempts
	}
	from := int64(0)
	// A page of which somebody else had the locks may be empty once they are given back, while there are others behind it: it is looked for
	// once more, among what is there by then.
	for empty := 0; empty < 2; {
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
			rows, err := store.Many[taintedShard](ctx, tx, page, job.ID, args.Agent, from, int64(partition.PageSize))
			switch {
			case err != nil:
				return err
			case len(rows) == 0:
				empty++
				return nil
			case rows[0].JobState.Ended():
				return functions.ErrJobEnded
			}
			empty = 0
			from = (rows[0].Number/partition.PageSize + 1) * partition.PageSize
			if _, err := store.Exec(ctx, tx, void, job.ID, numbersOf(rows), args.Agent); err != nil {
				return err
			}
			w := reopenTainted(args, rows)
			for i := range w.Changes {
				w.Changes[i].Unfinal = false
			}
			return s.settle(ctx, tx, Settlement{Project: args.Project, Job: job.ID, Weighed: w, tainted: &args.Agent, Reopened: "an agent was caught: " + args.Reason})
		})
		if errors.Is(err, functions.ErrJobEnded) { // meanwhile: they are an incident
			return nil
		}
		if err != nil {
			return fmt.Errorf("opening final results again: %w", err)
		}
	}
	return nil
}

// reopenTainted decides about one page of a tainted agent's results. Where the job has ended otherwise nobody executes them again, and they
// are taken back.
func reopenTainted(args stepargs.TaintArgs, rows []taintedShard) Weighed {
	w := Weighed{Counts: map[uuid.UUID]*Count{}}
	for _, r := range rows {
		c := jobs.ShardChange{
			Number: r.Number, Was: functions.ShardAccepted, AgentWas: &r.AgentID, Unfinal: true, State: functions.ShardOpen, Support: r.Support,
			Reasons: []verify.Reason{{Code: reasonTainted, Text: fmt.Sprintf("the result of agent %s was taken back: %s", args.Agent, args.Reason)}},
		}
		if r.JobState.Ended() {
			c.State = functions.ShardCancelled
		} else if r.Lent == 0 {
			c.Wanted = 1
		}
		w.Changes = append(w.Changes, c)
		if r.Audited {
			a := OpenAudit{Shard: r.Number, AgentID: args.Agent, Number: r.Awaits}
			w.Verdicts = append(w.Verdicts, AuditVerdict{OpenAudit: a, State: AuditVoid, Reason: "the agent's results were taken back before"})
		}
	}
	return w
}

func numbersOf(rows []taintedShard) []int64 {
	numbers := make([]int64, len(rows))
	for i, r := range rows {
		numbers[i] = r.Number
	}
	return numbers
}
