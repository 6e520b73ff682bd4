package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// lastRun is the newest run of the project.
const lastRun = "@last"

// findRun finds a run of a workflow as people name it: by its ID, by the beginning or the end of it, or as the newest one.
func findRun(ctx context.Context, c *connection, text string) (uuid.UUID, error) {
	if id, err := uuid.Parse(text); err == nil {
		return id, nil
	}
	part := strings.ToLower(text)
	if part != lastRun && !partOfID.MatchString(part) {
		return uuid.Nil, &exitError{code: exitUsage, err: fmt.Errorf("%q is no ID of a run: the first or last 6 characters of one will do, and %s is the newest run", text, lastRun), hint: "ostraka workflow runs shows them"}
	}
	newest := int64(referable)
	page, err := answer.Read[client.WorkflowRunList](c.ListWorkflowRuns(ctx, c.project, &client.ListWorkflowRunsParams{Limit: &newest}))
	if err != nil {
		return uuid.Nil, explain("looking for the run", err)
	}
	found := runsNamed(page.Value.Items, part)
	switch len(found) {
	case 0:
		return uuid.Nil, &exitError{code: exitNotFound, err: fmt.Errorf("no run among the newest %d has an ID that begins or ends with %s", len(page.Value.Items), part), hint: "ostraka workflow runs shows them; older ones are found by their whole ID"}
	case 1:
		return found[0], nil
	default:
		return uuid.Nil, usageError("%s is the beginning or the end of the IDs of %d runs, %s and %s among them: give more of it", part, len(found), found[0], found[1])
	}
}

// findNamed says what NAME|RUN names: a run, which it finds, or a workflow. The beginning or the end of an ID may be a name too, as cafe01
// is: a workflow that has it comes first.
func findNamed(ctx context.Context, c *connection, text string) (run uuid.UUID, isRun bool, err error) {
	if _, err := uuid.Parse(text); err != nil && text != lastRun {
		if !partOfID.MatchString(strings.ToLower(text)) {
			return uuid.Nil, false, nil
		}
		if text[0] >= 'a' { // a name begins with a small letter
			if _, err := getWorkflow(ctx, c, text); !isNotFound(err) {
				return uuid.Nil, false, explain("getting the workflow", err)
			}
		}
	}
	run, err = findRun(ctx, c, text)
	return run, true, err
}

// runsNamed are the runs, the newest first, that part may mean.
func runsNamed(runs []client.WorkflowRun, part string) (found []uuid.UUID) {
	for i, r := range runs {
		id := r.ID.String()
		if part == lastRun && i == 0 || strings.HasPrefix(id, part) || strings.HasSuffix(id, part) {
			found = append(found, r.ID)
		}
	}
	return found
}
