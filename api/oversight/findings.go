package oversight

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/heuristics"
)

// Findings is what the API asks of the domain about what heuristics found.
type Findings interface {
	ListFindings(ctx context.Context, project uuid.UUID, filter heuristics.FindingFilter, page functions.ListPage) ([]heuristics.HeuristicFinding, error)
	GetFinding(ctx context.Context, project, id uuid.UUID) (heuristics.HeuristicFinding, error)
	GetCodeReview(ctx context.Context, project uuid.UUID, name string, version int) (heuristics.CodeReview, error)
	ReviewCode(ctx context.Context, by functions.Principal, project uuid.UUID, name string, version int, decision, reason string) (heuristics.CodeReview, error)
}

// ListFindingsInput asks for findings.
type ListFindingsInput struct {
	rest.ListInProject
	Function  string      `query:"function" maxLength:"63" doc:"Only findings about this function."`
	Version   int         `query:"version" minimum:"0" doc:"Only findings about this version."`
	Job       rest.PathID `query:"job" doc:"Only findings about this job."`
	Heuristic string      `query:"heuristic" maxLength:"63" doc:"Only findings of this heuristic."`
}

// FindingPath names a finding.
type FindingPath struct {
	rest.InProject
	Finding rest.PathID `path:"finding"`
}

type findingOutput struct {
	Body heuristics.HeuristicFinding
}

// ReviewCodeInput decides about a version of a function.
type ReviewCodeInput struct {
	rest.FunctionVersionPath
	Body struct {
		Decision string `json:"decision" enum:"allow,refuse" doc:"allow: its jobs are dispatched. refuse: no new job is taken, and those that wait go on waiting."`
		Reason   string `json:"reason" minLength:"1" maxLength:"2000" doc:"Why; it is kept in the audit log."`
	} `nameHint:"CodeDecision"`
}

type codeReviewOutput struct {
	Body heuristics.CodeReview
}

func (s *server) findingOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "listFindings", Method: http.MethodGet, Path: "/v1/projects/{project}/findings", Tag: "rules", Summary: "List what heuristics have found",
		About: "In the order in which it was found. A finding is advice: it never accepts anything.", Access: rest.Readers(),
	}, s.listFindings)
	rest.Register(s.Server, rest.Operation{
		ID: "getFinding", Method: http.MethodGet, Path: "/v1/projects/{project}/findings/{finding}", Tag: "rules", Summary: "Get a finding, with the lines that weigh", Access: rest.Readers(),
	}, s.getFinding)
	const review = "/v1/projects/{project}/functions/{name}/versions/{version}/review"
	rest.Register(s.Server, rest.Operation{
		ID: "getCodeReview", Method: http.MethodGet, Path: review, Tag: "functions", Summary: "Say what heuristics have said about a version of a function", Access: rest.Readers(),
	}, s.getCodeReview)
	rest.Register(s.Server, rest.Operation{
		ID: "reviewCode", Method: http.MethodPost, Path: review, Tag: "functions", Summary: "Allow or refuse a version of a function in which something was found",
		About: "Deciding the same again is harmless.", Access: rest.Roles(functions.RoleOwner), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.reviewCode)
}

func (s *server) listFindings(ctx context.Context, c *rest.Call, in *ListFindingsInput) (*rest.Listed[heuristics.HeuristicFinding], error) {
	project, page, err := in.Read(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	filter := heuristics.FindingFilter{Function: in.Function, Version: in.Version, Heuristic: in.Heuristic}
	if filter.Job, err = rest.OptionalID("job", in.Job); err != nil {
		return nil, err
	}
	items, err := s.service.ListFindings(ctx, project, filter, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(f heuristics.HeuristicFinding) string { return f.ID.String() }), nil
}

func (s *server) getFinding(ctx context.Context, _ *rest.Call, in *FindingPath) (*findingOutput, error) {
	project, id, err := in.And("finding", in.Finding)
	if err != nil {
		return nil, err
	}
	f, err := s.service.GetFinding(ctx, project, id)
	if err != nil {
		return nil, err
	}
	return &findingOutput{Body: f}, nil
}

func (s *server) getCodeReview(ctx context.Context, _ *rest.Call, in *rest.FunctionVersionPath) (*codeReviewOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	r, err := s.service.GetCodeReview(ctx, project, in.Name, in.Version)
	if err != nil {
		return nil, err
	}
	return &codeReviewOutput{Body: r}, nil
}

func (s *server) reviewCode(ctx context.Context, c *rest.Call, in *ReviewCodeInput) (*codeReviewOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	r, err := s.service.ReviewCode(ctx, c.Principal, project, in.Name, in.Version, in.Body.Decision, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	return &codeReviewOutput{Body: r}, nil
}
