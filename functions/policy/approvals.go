package policy

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
		ID: r.ID, State: r.State, Operation: r.Kind, Subject: r.Subject, Risk: r.Risk, Facts: r.Facts, Layer: string(r.Layer), Rule: r.Rule,
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

// layerAsking is whose yes is needed: an operator's, if a rule of theirs is among those that ask.
func layerAsking(d guardian.Decision) guardian.Layer {
	for _, a := range d.Applied {
		if a.Then == guardian.Ask && a.Override == "" && a.Layer == guardian.OperatorLayer {
			return guardian.OperatorLayer
		}
	}
	return d.Rule.Layer
}

// partOf is the job that an operation is part of: leases and rechecks of a job are asked about again and again, and one yes is for all.
func partOf(op guardian.Operation) *uuid.UUID {
	var job string
	switch f := op.Facts.(type) {
	case guardian.DispatchFacts:
		job = f.Job.ID
	case guardian.RecheckFacts:
		job = f.Job.ID
	case guardian.SandboxFacts:
		job = f.Job.ID
	}
	id, err := uuid.Parse(job)
	if err != nil {
		return nil
	}
	return &id
}

// approvalOf looks for the yes to an operation. What an operator's rule asks is answered by an operator's yes alone.
func (s *Service) approvalOf(ctx context.Context, tx *store.Tx, j judged) (a guardian.Approval, found bool, err error) {
	digest, err := hex.DecodeString(j.decision.Digest)
	if err != nil {
		return a, false, fmt.Errorf("reading the digest of an operation: %w", err)
	}
	type row struct {
		ID        uuid.UUID
		DecidedBy string
		Why       string
		ExpiresAt *time.Time
	}
	r, found, err := store.One[row](ctx, tx, sql.FindApproval, digest, layerAsking(j.decision) == guardian.OperatorLayer, s.now(), partOf(j.op), j.decision.Rule.Name)
	if r.ExpiresAt == nil {
		r.ExpiresAt = new(s.now().Add(ApprovalLife))
	}
	return guardian.Approval{ID: r.ID.String(), Digest: j.decision.Digest, By: r.DecidedBy, Reason: r.Why, Expires: *r.ExpiresAt}, found, err
}

func useApproval(ctx context.Context, tx *store.Tx, id string) error {
	n, err := store.Exec(ctx, tx, sql.UseApproval, id)
	if err == nil && n == 0 { // another transaction was faster
		err = &functions.Error{Kind: functions.KindConflict, Code: "approval_used", Message: "approval " + id + " was used meanwhile", Hint: "send the request again: it asks for another approval"}
	}
	return err
}

// requestApproval keeps what is asked, or finds that it is asked already. tx is where the operation's record belongs.
func (s *Service) requestApproval(ctx context.Context, tx *store.Tx, j judged, id uuid.UUID, job *uuid.UUID) (uuid.UUID, error) {
	d := j.decision
	digest, err := hex.DecodeString(d.Digest)
	if err != nil {
		return id, fmt.Errorf("reading the digest of an operation: %w", err)
	}
	if known, found, err := store.Value[uuid.UUID](ctx, tx, sql.FindWaiting, digest, s.now(), job, d.Rule.Name); err != nil || found {
		return known, err
	}
	n, _, err := store.Value[int](ctx, tx, sql.CountWaiting, s.now())
	if err != nil {
		return id, err
	}
	if n >= MaxWaiting {
		return id, &functions.Error{
			Kind: functions.KindConflict, Code: "too_many_approvals", Message: fmt.Sprintf("%d approvals wait already, and no more are kept", n),
			Hint: "have some of them decided: ostraka approval list",
		}
	}
	kept := detail{}
	kept.keepFacts(j.op.Facts)
	facts, err := json.Marshal(kept.Facts)
	if err != nil {
		return id, fmt.Errorf("encoding the facts of %s: %w", j.op.Kind, err)
	}
	_, err = store.Exec(ctx, tx, sql.AddApproval, id, j.op.Kind, j.op.Subject, digest, facts, layerAsking(d), d.Rule.Name, d.Rule.Version, d.Risk, d.Reason, job, j.actor(), s.now().Add(ApprovalLife))
	return id, err
}

// AskFor keeps the approval that a job waits for, in the transaction that makes the job, and says until when.
func (s *Service) AskFor(ctx context.Context, tx *store.Tx, op guardian.Operation, d guardian.Decision, job uuid.UUID) (id uuid.UUID, until time.Time, err error) {
	project, err := projectOf(op)
	if err != nil {
		return id, until, err
	}
	id, err = s.requestApproval(ctx, tx, judged{op: op, project: project, decision: d}, base.NewID(), &job)
	return id, s.now().Add(ApprovalLife), err
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

// samePerson compares who two actors are, whatever roles they have: the ID of a key, or who signed in.
func samePerson(a, b string) bool {
	_, x, _ := strings.Cut(a, ":")
	_, y, _ := strings.Cut(b, ":")
	return x == y
}

// followJob lends a job that was waiting, or ends it. It is the last thing that a transaction does.
func (s *Service) followJob(ctx context.Context, tx *store.Tx, project uuid.UUID, row approvalRow, state, by, why string) error {
	if state == ApprovalDenied {
		return s.jobs.Refuse(ctx, tx, project, *row.Job, fmt.Sprintf("the approval that it waited for was refused by %s: %s", by, why))
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	if _, err := store.Exec(ctx, server, sql.ReleaseJob, *row.Job, row.ID); err != nil {
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

// stillWaits says whether nobody has approved the job meanwhile. It locks the job first, as every step does.
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
