package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

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
	ListInProject
	Function  string `query:"function" maxLength:"63" doc:"Only findings about this function."`
	Version   int    `query:"version" minimum:"0" doc:"Only findings about this version."`
	Job       PathID `query:"job" doc:"Only findings about this job."`
	Heuristic string `query:"heuristic" maxLength:"63" doc:"Only findings of this heuristic."`
}

// FindingPath names a finding.
type FindingPath struct {
	InProject
	Finding PathID `path:"finding"`
}

type findingOutput struct {
	Body heuristics.HeuristicFinding
}

// ReviewCodeInput decides about a version of a function.
type ReviewCodeInput struct {
	FunctionVersionPath
	Body struct {
		Decision string `json:"decision" enum:"allow,refuse" doc:"allow: its jobs are dispatched. refuse: no new job is taken, and those that wait go on waiting."`
		Reason   string `json:"reason" minLength:"1" maxLength:"2000" doc:"Why; it is kept in the audit log."`
	} `nameHint:"CodeDecision"`
}

type codeReviewOutput struct {
	Body heuristics.CodeReview
}

func (s *server) findingOperations() {
	register(s, operation{
		id: "listFindings", method: http.MethodGet, path: "/v1/projects/{project}/findings", tag: "rules", summary: "List what heuristics have found",
		about: "In the order in which it was found. A finding is advice: it never accepts anything.", access: readers(),
	}, s.listFindings)
	register(s, operation{
		id: "getFinding", method: http.MethodGet, path: "/v1/projects/{project}/findings/{finding}", tag: "rules", summary: "Get a finding, with the lines that weigh", access: readers(),
	}, s.getFinding)
	const review = "/v1/projects/{project}/functions/{name}/versions/{version}/review"
	register(s, operation{
		id: "getCodeReview", method: http.MethodGet, path: review, tag: "functions", summary: "Say what heuristics have said about a version of a function", access: readers(),
	}, s.getCodeReview)
	register(s, operation{
		id: "reviewCode", method: http.MethodPost, path: review, tag: "functions", summary: "Allow or refuse a version of a function in which something was found",
		about: "Deciding the same again is harmless.", access: roles(functions.RoleOwner), body: body{limit: MaxJSONBody},
	}, s.reviewCode)
}

func (s *server) listFindings(ctx context.Context, c *call, in *ListFindingsInput) (*Listed[heuristics.HeuristicFinding], error) {
	project, page, err := in.read(cursorOfID)
	if err != nil {
		return nil, err
	}
	filter := heuristics.FindingFilter{Function: in.Function, Version: in.Version, Heuristic: in.Heuristic}
	if filter.Job, err = optionalID("job", in.Job); err != nil {
		return nil, err
	}
	items, err := s.service.ListFindings(ctx, project, filter, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(f heuristics.HeuristicFinding) string { return f.ID.String() }), nil
}

func (s *server) getFinding(ctx context.Context, _ *call, in *FindingPath) (*findingOutput, error) {
	project, id, err := in.and("finding", in.Finding)
	if err != nil {
		return nil, err
	}
	f, err := s.service.GetFinding(ctx, project, id)
	if err != nil {
		return nil, err
	}
	return &findingOutput{Body: f}, nil
}

func (s *server) getCodeReview(ctx context.Context, _ *call, in *FunctionVersionPath) (*codeReviewOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	r, err := s.service.GetCodeReview(ctx, project, in.Name, in.Version)
	if err != nil {
		return nil, err
	}
	return &codeReviewOutput{Body: r}, nil
}

func (s *server) reviewCode(ctx context.Context, c *call, in *ReviewCodeInput) (*codeReviewOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	r, err := s.service.ReviewCode(ctx, c.principal, project, in.Name, in.Version, in.Body.Decision, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	return &codeReviewOutput{Body: r}, nil
}
