package oversight

import (
	"context"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/review"
)

// Flags is what the API asks of the domain about marks that people decide about.
type Flags interface {
	ListFlags(ctx context.Context, project uuid.UUID, filter review.FlagFilter, page functions.ListPage) ([]review.Flag, error)
	GetFlag(ctx context.Context, project, id uuid.UUID) (review.FlagDetail, error)
	ResolveFlag(ctx context.Context, by functions.Principal, project, id uuid.UUID, revision int64, r review.FlagResolution) (review.FlagDetail, error)
}

// ListFlagsInput asks for flags.
type ListFlagsInput struct {
	rest.ListInProject
	Job      rest.PathID `query:"job" doc:"Only flags of this job."`
	State    string      `query:"state" enum:"open,resolved,all" default:"open"`
	Kind     string      `query:"kind" maxLength:"40" doc:"Only flags of this kind."`
	Rule     string      `query:"rule" maxLength:"100" doc:"Only flags that this rule has raised."`
	Agent    rest.PathID `query:"agent" doc:"Only flags about this agent."`
	Function string      `query:"function" maxLength:"63" doc:"Only flags about jobs and versions of this function."`
}

// FlagPath names a flag of a project.
type FlagPath struct {
	rest.InProject
	Flag rest.PathID `path:"flag"`
}

func (p FlagPath) ids() (project, flag uuid.UUID, err error) { return p.And("flag", p.Flag) }

// ResolveFlagInput is a person's decision about a flag.
type ResolveFlagInput struct {
	FlagPath
	rest.Conditional
	Body struct {
		Decision string `json:"decision" enum:"accept,reject,rerun,recheck,pardon,dismiss" doc:"One of those that the flag offers, where it says what each one does."`
		Digest   string `json:"digest,omitempty" pattern:"^[0-9a-f]{64}$" doc:"With accept: of the group whose output is right."`
		Reason   string `json:"reason" minLength:"1" maxLength:"2000" doc:"Why, for the audit log."`
	} `nameHint:"FlagResolution"`
}

type flagOutput struct {
	ETag string `header:"ETag"`
	Body review.FlagDetail
}

func (s *server) flagOperations() {
	const path = "/v1/projects/{project}/flags"
	rest.Register(s.Server, rest.Operation{
		ID: "listFlags", Method: http.MethodGet, Path: path, Tag: "rules", Summary: "List what a person must look at",
		About:  "In the order in which they were made. What happens again is counted by the flag that is there.",
		Access: rest.Readers(),
	}, s.listFlags)
	rest.Register(s.Server, rest.Operation{
		ID: "getFlag", Method: http.MethodGet, Path: path + "/{flag}", Tag: "rules", Summary: "Get a flag with what is needed to decide about it",
		About:  "Where it is about a shard: its attempts in groups of the same answer, how the groups differ, and what can be decided.",
		Access: rest.Readers(),
	}, s.getFlag)
	rest.Register(s.Server, rest.Operation{
		ID: "resolveFlag", Method: http.MethodPost, Path: path + "/{flag}/resolve", Tag: "rules", Summary: "Decide about a flag",
		About:  "Deciding the same about the same revision again is harmless. A decision about all shards that wait settles up to " + strconv.Itoa(review.MaxResolveAll) + " of them and leaves the flag open while there are more.",
		Access: rest.Roles(functions.RoleOwner, functions.RoleReviewer), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.resolveFlag)
}

func (s *server) getFlag(ctx context.Context, _ *rest.Call, in *FlagPath) (*flagOutput, error) {
	project, flag, err := in.ids()
	if err != nil {
		return nil, err
	}
	return flagAnswer(s.service.GetFlag(ctx, project, flag))
}

func (s *server) resolveFlag(ctx context.Context, c *rest.Call, in *ResolveFlagInput) (*flagOutput, error) {
	project, flag, err := in.ids()
	if err != nil {
		return nil, err
	}
	revision, err := in.Revision()
	if err != nil {
		return nil, err
	}
	if (in.Body.Decision == review.FlagAccept) != (in.Body.Digest != "") {
		return nil, rest.NewProblem(http.StatusUnprocessableEntity, rest.CodeInvalidRequest, "body.digest: to be given with the decision accept and with no other",
			"to accept a group give its digest, which GET on the flag shows")
	}
	return flagAnswer(s.service.ResolveFlag(ctx, c.Principal, project, flag, revision,
		review.FlagResolution{Decision: in.Body.Decision, Digest: in.Body.Digest, Reason: in.Body.Reason}))
}

func flagAnswer(d review.FlagDetail, err error) (*flagOutput, error) {
	if err != nil {
		return nil, err
	}
	if d.Samples == nil {
		d.Samples = []functions.FlagSample{}
	}
	return &flagOutput{ETag: rest.RevisionTag(d.Revision), Body: d}, nil
}

func (s *server) listFlags(ctx context.Context, c *rest.Call, in *ListFlagsInput) (*rest.Listed[review.Flag], error) {
	project, page, err := in.Read(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	filter := review.FlagFilter{State: review.FlagState(in.State), Kind: in.Kind, Rule: in.Rule, Function: in.Function}
	if in.State == "all" {
		filter.State = ""
	}
	if filter.Job, err = rest.OptionalID("job", in.Job); err != nil {
		return nil, err
	}
	if filter.Agent, err = rest.OptionalID("agent", in.Agent); err != nil {
		return nil, err
	}
	items, err := s.service.ListFlags(ctx, project, filter, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(f review.Flag) string { return f.ID.String() }), nil
}
