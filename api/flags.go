package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
)

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

func (s *server) flagOperations() {
	const path = "/v1/projects/{project}/flags"
	register(s, operation{
		id: "listFlags", method: http.MethodGet, path: path, tag: "rules", summary: "List what a person must look at",
		about:  "In the order in which they were made. What happens again is counted by the flag that is there.",
		access: readers(),
	}, s.listFlags)
}

func (s *server) listFlags(ctx context.Context, c *call, in *ListFlagsInput) (*Listed[functions.Flag], error) {
	project, page, err := in.read(cursorOfID)
	if err != nil {
		return nil, err
	}
	filter := functions.FlagFilter{State: functions.FlagState(in.State), Kind: in.Kind, Rule: in.Rule, Function: in.Function}
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
	return listed(c, page, items, cursorOfID, func(f functions.Flag) string { return f.ID.String() }), nil
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
