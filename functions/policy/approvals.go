package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/policy/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

const (
	// ApprovalLife is how long an approval may be given, and used.
	ApprovalLife = 7 * 24 * time.Hour
	// MaxWaiting is how many approvals of a project, or of the installation, wait at a time: people read them.
	MaxWaiting = 1000
)

// The states of an approval. That it has expired is not written anywhere: it follows from the time.
const (
	ApprovalWaiting  = "waiting"
	ApprovalApproved = "approved"
	ApprovalDenied   = "denied"
	ApprovalUsed     = "used"
	ApprovalExpired  = "expired"
)

// GuardianApproval is what a rule has asked about.
type GuardianApproval struct {
	ID          uuid.UUID       `json:"id"`
	State       string          `json:"state" enum:"waiting,approved,denied,used,expired"`
	Operation   string          `json:"operation" doc:"What is to happen." example:"job.submit"`
	Subject     string          `json:"subject" doc:"What it is to be done to."`
	Risk        string          `json:"risk" enum:"LOW,MEDIUM,HIGH,CRITICAL"`
	Facts       json.RawMessage `json:"facts" doc:"What the rules saw."`
	Asked       json.RawMessage `json:"asked,omitempty" doc:"What was asked for beyond the facts; left out where there is nothing, or too much to show. A yes holds for exactly this."`
	Layer       string          `json:"layer" enum:"builtin,operator,project" doc:"Whose rule asks: what an operator's rule asks is for operators to answer."`
	Rule        string          `json:"rule"`
	RuleVersion int64           `json:"rule_version"`
	Reason      string          `json:"reason" doc:"Why the rule asks."`
	Job         *uuid.UUID      `json:"job,omitempty" doc:"The job that waits for it."`
	RequestedBy string          `json:"requested_by"`
	CreatedAt   time.Time       `json:"created_at"`
	ExpiresAt   time.Time       `json:"expires_at" doc:"By when it must be given and used."`
	DecidedBy   string          `json:"decided_by,omitempty"`
	DecidedAt   *time.Time      `json:"decided_at,omitempty"`
	Why         string          `json:"why,omitempty" doc:"Why it was given or refused."`
	WhoDecides  string          `json:"who_decides" doc:"Who can answer."`
}

type approvalRow struct {
	ID          uuid.UUID
	Kind        string
	Subject     string
	Facts       json.RawMessage
	Asked       json.RawMessage
	Layer       guardian.Layer
	Rule        string
	RuleVersion int64
	Risk        string
	Reason      string
	Job         *uuid.UUID
	RequestedBy string
	CreatedAt   time.Time
	ExpiresAt   time.Time
	State       string
	DecidedBy   *string
	DecidedAt   *time.Time
	Why         *string
}

func (r approvalRow) approval(now time.Time) GuardianApproval {
	a := GuardianApproval{
		ID: r.ID, State: r.State, Operation: r.Kind, Subject: r.Subject, Risk: r.Risk, Facts: r.Facts, Asked: r.Asked, Layer: string(r.Layer), Rule: r.Rule,
		RuleVersion: r.RuleVersion, Reason: r.Reason, Job: r.Job, RequestedBy: r.RequestedBy, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt,
		DecidedAt: r.DecidedAt, WhoDecides: WhoDecides(r.Layer),
	}
	if r.open() && (r.Job == nil || r.State == ApprovalWaiting) && !now.Before(r.ExpiresAt) { // a job that was approved goes on
		a.State = ApprovalExpired
	}
	if r.DecidedBy != nil {
		a.DecidedBy, a.Why = *r.DecidedBy, *r.Why
	}
	return a
}

func (r approvalRow) open() bool { return r.State == ApprovalWaiting || r.State == ApprovalApproved }

// WhoDecides says who can answer what a rule of a layer asks.
func WhoDecides(l guardian.Layer) string {
	if l == guardian.OperatorLayer {
		return "an operator of the server"
	}
	return "an owner or a reviewer of the project, or an operator"
}

// ListApprovals lists what was asked in a project, or, for the nil ID, of the installation. state "" is every state.
func (s *Service) ListApprovals(ctx context.Context, project uuid.UUID, state string, page functions.ListPage) (list []GuardianApproval, err error) {
	after, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	err = s.place(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[approvalRow](ctx, tx, sql.ListApprovals, after, base.PageLimit(page), state, s.now())
		for _, r := range rows {
			list = append(list, r.approval(s.now()))
		}
		return err
	})
	return list, err
}

// GetApproval returns one.
func (s *Service) GetApproval(ctx context.Context, project, id uuid.UUID) (a GuardianApproval, err error) {
	err = s.place(ctx, project, func(tx *store.Tx) error {
		row, found, err := store.One[approvalRow](ctx, tx, sql.GetApproval, id)
		if err != nil || !found {
			return base.OrNotFound(err, "approval", id)
		}
		a = row.approval(s.now())
		return nil
	})
	return a, err
}

// DecideApproval says yes or no. Saying the same again is harmless.
func (s *Service) DecideApproval(ctx context.Context, by functions.Principal, project, id uuid.UUID, yes bool, why string) (GuardianApproval, error) {
	if err := functions.CheckResolutionReason(why); err != nil {
		return GuardianApproval{}, err
	}
	state := ApprovalDenied
	if yes {
		state = ApprovalApproved
	}
	err := s.place(ctx, project, func(tx *store.Tx) error {
		row, found, err := store.One[approvalRow](ctx, tx, sql.LockApproval, id)
		if err != nil || !found {
			return base.OrNotFound(err, "approval", id)
		}
		if row.State == state && *row.DecidedBy == by.Actor() {
			return nil
		}
		if err := s.mayDecide(ctx, tx, by, row, yes); err != nil {
			return err
		}
		facts := guardian.DecisionFacts{Decision: guardian.Decided{About: "approval", Verdict: state, Reason: why, Requester: row.RequestedBy}}
		if row.Job != nil {
			facts.Decision.Job = row.Job.String()
		}
		if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.ApprovalDecide, Subject: id.String(), Facts: facts}); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.DecideApproval, id, state, by.Actor(), why); err != nil {
			return err
		}
		if row.Job == nil {
			return nil
		}
		return s.followJob(ctx, tx, project, row, state, by.Actor(), why)
	})
	if err != nil {
		return GuardianApproval{}, err
	}
	return s.GetApproval(ctx, project, id)
}

// mayDecide says whether somebody may answer now.
func (s *Service) mayDecide(ctx context.Context, tx *store.Tx, by functions.Principal, row approvalRow, yes bool) error {
	if row.approval(s.now()).State != ApprovalWaiting {
		return &functions.Error{
			Kind: functions.KindConflict, Code: "approval_decided", Message: fmt.Sprintf("approval %s does not wait any more: it is %s", row.ID, row.approval(s.now()).State),
			Hint: "send the request again that needs one: it asks for another",
		}
	}
	if row.Layer == guardian.OperatorLayer && by.Role != functions.RoleOperator {
		return &functions.Error{Kind: functions.KindForbidden, Code: "approval_not_yours", Message: "a rule of the operator asks: only an operator of the server can answer", Hint: "ask the operator"}
	}
	h, _, err := store.One[head](ctx, tx, sql.PolicyHead)
	if err != nil {
		return err
	}
	if yes && h.FourEyes && samePerson(row.RequestedBy, by.Actor()) {
		return &functions.Error{
			Kind: functions.KindForbidden, Code: "four_eyes", Message: "who asks for an approval cannot give it: four eyes are wanted here",
			Hint: "have somebody else approve it, with a key of their own: ostraka approval approve " + row.ID.String() + " --reason WHY",
		}
	}
	return nil
}

// followJob lends a job that was waiting, once each rule that asks has its yes, or ends it. It is the last thing that a transaction does.
func (s *Service) followJob(ctx context.Context, tx *store.Tx, project uuid.UUID, row approvalRow, state, by, why string) error {
	if state == ApprovalDenied {
		return s.jobs.Refuse(ctx, tx, project, *row.Job, fmt.Sprintf("the approval that it waited for was refused by %s: %s", by, why))
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	if !waits(guardian.Kind(row.Kind)) { // it is about leases or rechecks of the job, for which agents may have been waiting
		return base.Notify(ctx, server, base.ChannelWork, project)
	}
	// The lock comes before the look: of two yeses that come at a time the second sees the first.
	if _, waits, err := store.Value[uuid.UUID](ctx, server, sql.LockWait, *row.Job); err != nil || !waits {
		return err
	}
	if err := tx.AsProject(ctx); err != nil {
		return err
	}
	next, more, err := store.Value[uuid.UUID](ctx, tx, sql.NextWait, *row.Job, row.Kind)
	if err != nil {
		return err
	}
	if server, err = tx.AsServer(ctx); err != nil {
		return err
	}
	if more {
		_, err := store.Exec(ctx, server, sql.AwaitNext, *row.Job, next)
		return err
	}
	if _, err := store.Exec(ctx, server, sql.ReleaseJob, *row.Job); err != nil {
		return err
	}
	return base.Notify(ctx, server, base.ChannelWork, project)
}

// ExpireApprovals ends the jobs whose approval did not come in time.
func (s *Service) ExpireApprovals(ctx context.Context) error {
	type waiting struct {
		ProjectID uuid.UUID
		JobID     uuid.UUID
	}
	var late []waiting
	err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
		late, err = store.Many[waiting](ctx, tx, sql.ExpiredWaits, s.now(), expireBatch)
		return err
	})
	for _, w := range late {
		err = s.env.Project(ctx, w.ProjectID, func(tx *store.Tx) error {
			if waits, err := stillWaits(ctx, tx, w.JobID); err != nil || !waits {
				return err
			}
			return s.jobs.Refuse(ctx, tx, w.ProjectID, w.JobID, "the approval that it waited for did not come in time")
		})
		if err != nil {
			return fmt.Errorf("ending job %s, whose approval did not come: %w", w.JobID, err)
		}
	}
	return err
}

// stillWaits says whether the job has not been approved meanwhile. It locks the job first, as every step does.
func stillWaits(ctx context.Context, tx *store.Tx, job uuid.UUID) (waits bool, err error) {
	if _, _, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job); err != nil {
		return false, err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return false, err
	}
	if _, waits, err = store.Value[uuid.UUID](ctx, server, sql.LockWait, job); err != nil {
		return false, err
	}
	return waits, tx.AsProject(ctx)
}

// expireBatch is how many of them end at a time.
const expireBatch = 100

// ApprovalStates are those that a list can be asked for.
func ApprovalStates() []string {
	return slices.Clone([]string{ApprovalWaiting, ApprovalApproved, ApprovalDenied, ApprovalUsed, ApprovalExpired})
}
