package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/google/uuid"

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
	ListInProject
	Job      PathID `query:"job" doc:"Only flags of this job."`
	State    string `query:"state" enum:"open,resolved,all" default:"open"`
	Kind     string `query:"kind" maxLength:"40" doc:"Only flags of this kind."`
	Rule     string `query:"rule" maxLength:"100" doc:"Only flags that this rule has raised."`
	Agent    PathID `query:"agent" doc:"Only flags about this agent."`
	Function string `query:"function" maxLength:"63" doc:"Only flags about jobs and versions of this function."`
}

// FlagPath names a flag of a project.
type FlagPath struct {
	InProject
	Flag PathID `path:"flag"`
}

func (p FlagPath) ids() (project, flag uuid.UUID, err error) { return p.and("flag", p.Flag) }

// ResolveFlagInput is a person's decision about a flag.
type ResolveFlagInput struct {
	FlagPath
	Conditional
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
	register(s, operation{
		id: "listFlags", method: http.MethodGet, path: path, tag: "rules", summary: "List what a person must look at",
		about:  "In the order in which they were made. What happens again is counted by the flag that is there.",
		access: readers(),
	}, s.listFlags)
	register(s, operation{
		id: "getFlag", method: http.MethodGet, path: path + "/{flag}", tag: "rules", summary: "Get a flag with what is needed to decide about it",
		about:  "Where it is about a shard: its attempts in groups of the same answer, how the groups differ, and what can be decided.",
		access: readers(),
	}, s.getFlag)
	register(s, operation{
		id: "resolveFlag", method: http.MethodPost, path: path + "/{flag}/resolve", tag: "rules", summary: "Decide about a flag",
		about:  "Deciding the same about the same revision again is harmless. A decision about all shards that wait settles up to " + strconv.Itoa(review.MaxResolveAll) + " of them and leaves the flag open while there are more.",
		access: roles(functions.RoleOwner, functions.RoleReviewer), body: body{limit: MaxJSONBody},
	}, s.resolveFlag)
}

func (s *server) getFlag(ctx context.Context, _ *call, in *FlagPath) (*flagOutput, error) {
	project, flag, err := in.ids()
	if err != nil {
		return nil, err
	}
	return flagAnswer(s.service.GetFlag(ctx, project, flag))
}

func (s *server) resolveFlag(ctx context.Context, c *call, in *ResolveFlagInput) (*flagOutput, error) {
	project, flag, err := in.ids()
	if err != nil {
		return nil, err
	}
	revision, err := in.revision()
	if err != nil {
		return nil, err
	}
	if (in.Body.Decision == review.FlagAccept) != (in.Body.Digest != "") {
		return nil, newProblem(http.StatusUnprocessableEntity, codeInvalidRequest, "body.digest: to be given with the decision accept and with no other",
			"to accept a group give its digest, which GET on the flag shows")
	}
	return flagAnswer(s.service.ResolveFlag(ctx, c.principal, project, flag, revision,
		review.FlagResolution{Decision: in.Body.Decision, Digest: in.Body.Digest, Reason: in.Body.Reason}))
}

func flagAnswer(d review.FlagDetail, err error) (*flagOutput, error) {
	if err != nil {
		return nil, err
	}
	if d.Samples == nil {
		d.Samples = []functions.FlagSample{}
	}
	return &flagOutput{ETag: revisionTag(d.Revision), Body: d}, nil
}

func (s *server) listFlags(ctx context.Context, c *call, in *ListFlagsInput) (*Listed[review.Flag], error) {
	project, page, err := in.read(cursorOfID)
	if err != nil {
		return nil, err
	}
	filter := review.FlagFilter{State: review.FlagState(in.State), Kind: in.Kind, Rule: in.Rule, Function: in.Function}
	if in.State == "all" {
		filter.State = ""
	}
	if filter.Job, err = optionalID("job", in.Job); err != nil {
		return nil, err
	}
	if filter.Agent, err = optionalID("agent", in.Agent); err != nil {
		return nil, err
	}
	items, err := s.service.ListFlags(ctx, project, filter, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(f review.Flag) string { return f.ID.String() }), nil
}

// optionalID reads an ID of a query that may be left out.
func optionalID(what string, given PathID) (*uuid.UUID, error) {
	if given == "" {
		return nil, nil
	}
	id, err := pathID(what, given)
	if err != nil {
		return nil, err
	}
	return &id, nil
}
