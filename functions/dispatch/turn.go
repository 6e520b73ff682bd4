package dispatch

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/turns"
	"github.com/ostraka/ostraka/guardian"
)

// TurnTime is how long a lease may be held for one turn. One that is held longer counts as one more turn for each further TurnTime: agents
// ask for about half as much work at a time.
const TurnTime = 30 * time.Second

// MaxSubmitterPriority is the highest priority that a submitter may give a job; more is for the project's owner to say.
const MaxSubmitterPriority = turns.DefaultPriority

// lineRow is where a candidate and its project stand.
type lineRow struct {
	Weight       int
	Stride       float64
	ProjectStart float64
	ProjectEnd   float64
	ProjectClock float64
	JobStart     float64
	JobEnd       float64
	JobClock     float64
}

// turnCost is what a lease costs a job and its project.
type turnCost struct{ job, project turns.Charge }

func (r lineRow) cost() turnCost {
	return turnCost{job: turns.Cost(r.JobClock, r.Stride), project: turns.Cost(r.ProjectClock, turns.WeightStride(r.Weight))}
}

// inTurn puts candidates in the order in which they are asked for shards.
func inTurn(rows []candidate) []candidate {
	byJob := make(map[uuid.UUID]candidate, len(rows))
	line := make([]turns.Candidate, len(rows))
	for i, r := range rows {
		byJob[*r.JobID] = r
		line[i] = turns.Candidate{
			Project: *r.ProjectID, Job: *r.JobID, ProjectClock: r.ProjectClock, JobClock: r.JobClock,
			ProjectTurn: turns.Account{Start: r.ProjectStart, End: r.ProjectEnd}, JobTurn: turns.Account{Start: r.JobStart, End: r.JobEnd},
		}
	}
	ordered := make([]candidate, len(rows))
	for i, c := range turns.Order(line) {
		ordered[i] = byJob[c.Job]
	}
	return ordered
}

// take charges the job and its project for a lease.
func (o openJob) take(ctx context.Context, server pgx.Tx) error {
	_, err := store.Exec(ctx, server, sql.TakeTurn, o.JobID, o.ProjectID, o.cost.job.Floor, o.cost.job.Stride, o.cost.project.Floor, o.cost.project.Stride)
	return err
}

// ChargeTurns counts each lease that is held for longer than TurnTime as one more turn of its job and its project. Run twice in a row it
// counts once.
func (s *Service) ChargeTurns(ctx context.Context, _ stepargs.ChargeTurnsArgs) error {
	err := s.env.Control(ctx, func(tx pgx.Tx) error {
		first, err := store.Exec(ctx, tx, sql.BeginCharge, TurnTime-TurnTime/8) // a step may come a little early
		if err != nil || first == 0 {
			return err
		}
		// Jobs before projects, as a lease locks them.
		if _, err := store.Exec(ctx, tx, sql.ChargeJobTurns, TurnTime, turns.MaxDebt, turns.Credit); err != nil {
			return err
		}
		_, err = store.Exec(ctx, tx, sql.ChargeProjectTurns, TurnTime, turns.MaxDebt, turns.DefaultWeight, turns.Credit)
		return err
	})
	if err != nil {
		return fmt.Errorf("counting what is held for long: %w", err)
	}
	return nil
}

// CheckPriority says which priority a job gets of those that are asked for; 0 asks for none.
func CheckPriority(by functions.Principal, asked int) (int, error) {
	switch {
	case asked == 0:
		return turns.DefaultPriority, nil
	case asked < turns.MinPriority || asked > turns.MaxPriority:
		return 0, functions.Invalid("bad_priority", fmt.Sprintf("priority %d", asked), fmt.Sprintf("choose a priority from %d to %d; %d is usual", turns.MinPriority, turns.MaxPriority, turns.DefaultPriority))
	case asked > MaxSubmitterPriority && by.Role == functions.RoleSubmitter:
		return 0, &functions.Error{
			Kind: functions.KindForbidden, Code: "priority_not_allowed", Message: fmt.Sprintf("a submitter's jobs have priority %d at most", MaxSubmitterPriority),
			Hint: "ask for less, or have the project's owner raise it: ostraka job set-priority",
		}
	default:
		return asked, nil
	}
}

// SetPriority changes how large a job's share of its project's turns is, from now on.
func (s *Service) SetPriority(ctx context.Context, by functions.Principal, project, id uuid.UUID, priority int) (functions.Job, error) {
	priority, err := CheckPriority(by, priority)
	if err != nil {
		return functions.Job{}, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, id)
		if err != nil || !found || state == functions.JobDeleting {
			return base.OrNotFound(err, "job", id)
		}
		if state.Ended() {
			return functions.ErrJobEnded.With("job %s is %s, and gets no turns any more", id, state)
		}
		facts, err := jobs.Facts(ctx, tx, id)
		if err != nil {
			return err
		}
		facts.Job.Priority = int64(priority)
		if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.JobPrioritise, Subject: id.String(), Facts: facts}); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.SetPriority, id, priority); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "job.priority", id.String(), map[string]any{"priority": priority}); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		_, err = store.Exec(ctx, server, sql.SetStride, id, turns.PriorityStride(priority))
		return err
	})
	if err != nil {
		return functions.Job{}, err
	}
	return s.jobs.GetJob(ctx, project, id)
}

// ReadTurn says where a job stands; nil: it is in no line, because it has ended or is held.
func ReadTurn(ctx context.Context, server pgx.Tx, job functions.Job) (*functions.JobTurn, error) {
	type row struct {
		Stride  float64
		Weight  int
		Before  int64
		Strides []float64
		Weights []int32
	}
	r, found, err := store.One[row](ctx, server, sql.LineOfJob, job.ID)
	if err != nil || !found {
		return nil, err
	}
	all := make([]float64, len(r.Weights))
	for i, w := range r.Weights {
		all[i] = turns.WeightStride(int(w))
	}
	return &functions.JobTurn{
		Priority: job.Priority, JobShare: turns.Share(r.Stride, r.Strides), Before: r.Before,
		ProjectWeight: r.Weight, ProjectShare: turns.Share(turns.WeightStride(r.Weight), all),
	}, nil
}

// TurnWords says the job's turn in a sentence.
func TurnWords(t functions.JobTurn) string {
	return fmt.Sprintf("The job has priority %d and %.3g %% of its project's turns; the project has weight %d and %.3g %% of all turns. %s before this one.",
		t.Priority, 100*t.JobShare, t.ProjectWeight, 100*t.ProjectShare, base.Plural(t.Before, "open job of the project is served", "open jobs of the project are served"))
}
