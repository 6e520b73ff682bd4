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
	Job PathID `query:"job" doc:"Only flags of this job."`
}

func (s *server) flagOperations() {
	register(s, operation{
		id: "listFlags", method: http.MethodGet, path: "/v1/projects/{project}/flags", tag: "rules", summary: "List what a person must look at",
		access: readers(),
	}, s.listFlags)
}

func (s *server) listFlags(ctx context.Context, c *call, in *ListFlagsInput) (*Listed[functions.Flag], error) {
	project, page, err := in.read(cursorOfID)
	if err != nil {
		return nil, err
	}
	var job *uuid.UUID
	if in.Job != "" {
		id, err := pathID("job", in.Job)
		if err != nil {
			return nil, err
		}
		job = &id
	}
	items, err := s.service.ListFlags(ctx, project, job, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(f functions.Flag) string { return f.ID.String() }), nil
}
