package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// projectNamed finds a project by its name: the one of the key, or the only one of that name where the key is an operator's.
func projectNamed(ctx context.Context, c *connection, name string) (id uuid.UUID, err error) {
	who, err := answer.Read[client.Identity](c.GetSession(ctx))
	if err != nil {
		return id, explain("looking for the project "+name, err)
	}
	if own := who.Value.Project; own != nil {
		project, err := answer.Read[client.Project](c.GetProject(ctx, *own, nil))
		if err != nil {
			return id, explain("looking for the project "+name, err)
		}
		if project.Value.Name == name {
			return *own, nil
		}
		return id, noSuchProject(fmt.Errorf("the key is not of a project %q", name))
	}
	var found []uuid.UUID
	for cursor := (*string)(nil); ; {
		page, err := answer.Read[client.ProjectList](c.ListProjects(ctx, &client.ListProjectsParams{Cursor: cursor, Limit: new(int64(pageSize))}))
		if err != nil {
			return id, explain("looking for the project "+name, err)
		}
		for _, p := range page.Value.Items {
			if p.Name == name {
				found = append(found, p.ID)
			}
		}
		if page.Value.NextCursor == "" {
			break
		}
		cursor = &page.Value.NextCursor
	}
	switch len(found) {
	case 0:
		return id, noSuchProject(fmt.Errorf("there is no project %q", name))
	case 1:
		return found[0], nil
	}
	return id, noSuchProject(fmt.Errorf("%d projects have the name %q", len(found), name))
}

func noSuchProject(err error) error {
	return &exitError{code: exitUsage, err: err, hint: "give its name or its ID as OSTRAKA_PROJECT or --project; ostraka whoami says which one is used"}
}
