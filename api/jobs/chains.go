package jobs

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/submit"
)

// Chains is what the API asks of the domain about jobs that follow jobs.
type Chains interface {
	GetChain(ctx context.Context, project, job uuid.UUID) (submit.JobChain, error)
	// FollowUpAgain has the rules decide about an ended job again.
	FollowUpAgain(ctx context.Context, by functions.Principal, project, job uuid.UUID) error
	// TryRules says what a rule, or each where it is nil, would come to.
	TryRules(ctx context.Context, project, job uuid.UUID, spec *planner.Rule) ([]submit.RuleTrial, error)
}

// TryRulesInput says which rule to try.
type TryRulesInput struct {
	rest.JobPath
	Body struct {
		Rule *planner.Rule `json:"rule,omitempty" doc:"The rule; each of the project's where it is left out."`
	}
}

type chainOutput struct {
	Body submit.JobChain
}

type ruleTrialsOutput struct {
	Body RuleTrials
}

// RuleTrials are what rules would come to.
type RuleTrials struct {
	Rules []submit.RuleTrial `json:"rules"`
}

func (s *server) chainOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "getJobChain", Method: http.MethodGet, Path: rest.JobsPath + "/{job}/chain", Tag: "jobs", Summary: "Get the chain of jobs that a job belongs to",
		About:  "The job that somebody submitted, all that followed, and what each rule came to at the end of each of them: which fired on which values, and which did not and why.",
		Access: rest.Readers(),
	}, s.getJobChain)
	rest.Register(s.Server, rest.Operation{
		ID: "followUpAgain", Method: http.MethodPost, Path: rest.JobsPath + "/{job}/follow-ups", Tag: "jobs", Summary: "Have the rules decide about an ended job once more",
		About:  "Jobs that follow already are not made again, and an answer of a planner that was kept is not asked for again; a planner that failed is.",
		Access: rest.Roles(functions.RoleOwner, functions.RoleSubmitter), Status: http.StatusAccepted,
	}, s.followUpAgain)
	rest.Register(s.Server, rest.Operation{
		ID: "tryRules", Method: http.MethodPost, Path: rest.JobsPath + "/{job}/follow-ups/test", Tag: "rules", Summary: "Try rules on a job that came to an answer",
		About:  "Says which jobs would be made, on which values, and which would not and why. Planners are run; no job is made.",
		Access: rest.Roles(functions.RoleOwner, functions.RoleSubmitter), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.tryRules)
}

func (s *server) getJobChain(ctx context.Context, _ *rest.Call, in *rest.JobPath) (*chainOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	c, err := s.service.GetChain(ctx, project, job)
	if err != nil {
		return nil, err
	}
	return &chainOutput{Body: c}, nil
}

func (s *server) followUpAgain(ctx context.Context, c *rest.Call, in *rest.JobPath) (*rest.Nothing, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	return nil, s.service.FollowUpAgain(ctx, c.Principal, project, job)
}

func (s *server) tryRules(ctx context.Context, _ *rest.Call, in *TryRulesInput) (*ruleTrialsOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	list, err := s.service.TryRules(ctx, project, job, in.Body.Rule)
	if err != nil {
		return nil, err
	}
	return &ruleTrialsOutput{Body: RuleTrials{Rules: list}}, nil
}
