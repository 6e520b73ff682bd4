package oversight

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/policy"
)

// Approvals is what the API asks of the domain about what waits for a person's yes. The nil project is the whole installation.
type Approvals interface {
	ListApprovals(ctx context.Context, project uuid.UUID, state string, page functions.ListPage) ([]policy.GuardianApproval, error)
	GetApproval(ctx context.Context, project, id uuid.UUID) (policy.GuardianApproval, error)
	DecideApproval(ctx context.Context, by functions.Principal, project, id uuid.UUID, yes bool, why string) (policy.GuardianApproval, error)
}

// ListApprovals asks for approvals.
type ListApprovals struct {
	rest.Paging
	State string `query:"state" enum:"waiting,approved,denied,used,expired" doc:"Only these."`
}

// ApprovalName names an approval.
type ApprovalName struct {
	Approval rest.PathID `path:"approval"`
}

// DecideApproval says yes or no.
type DecideApproval struct {
	ApprovalName
	Body struct {
		Approve bool   `json:"approve"`
		Reason  string `json:"reason" minLength:"1" maxLength:"1000" doc:"The audit log keeps it."`
	} `nameHint:"ApprovalDecision"`
}

// The inputs of what is about a project.
type (
	// ListApprovalsInProject asks for approvals of a project.
	ListApprovalsInProject struct {
		rest.InProject
		ListApprovals
	}
	// ApprovalInProject names an approval of a project.
	ApprovalInProject struct {
		rest.InProject
		ApprovalName
	}
	// DecideApprovalInProject decides about one of a project.
	DecideApprovalInProject struct {
		rest.InProject
		DecideApproval
	}
)

type approvalOutput struct {
	Body policy.GuardianApproval
}

func (s *server) listApprovals(ctx context.Context, c *rest.Call, project uuid.UUID, in ListApprovals) (*rest.Listed[policy.GuardianApproval], error) {
	page, err := in.Page(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	list, err := s.service.ListApprovals(ctx, project, in.State, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, list, rest.CursorOfID, func(a policy.GuardianApproval) string { return a.ID.String() }), nil
}

func (s *server) getApproval(ctx context.Context, project uuid.UUID, in ApprovalName) (*approvalOutput, error) {
	id, err := rest.ReadID("approval", in.Approval)
	if err != nil {
		return nil, err
	}
	a, err := s.service.GetApproval(ctx, project, id)
	if err != nil {
		return nil, err
	}
	return &approvalOutput{Body: a}, nil
}

func (s *server) decideApproval(ctx context.Context, c *rest.Call, project uuid.UUID, in DecideApproval) (*approvalOutput, error) {
	id, err := rest.ReadID("approval", in.Approval)
	if err != nil {
		return nil, err
	}
	a, err := s.service.DecideApproval(ctx, c.Principal, project, id, in.Body.Approve, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	return &approvalOutput{Body: a}, nil
}
