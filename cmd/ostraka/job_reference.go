package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

const (
	// lastJob is the newest job of the project that is no follow-up.
	lastJob = "@last"
	// referable is how many of the newest jobs are looked through for one whose ID is given in part.
	referable = 500
)

// partOfID is the beginning or the end of an ID: long enough that one means it.
var partOfID = regexp.MustCompile(`^[0-9a-f-]{6,35}$`)

// jobReference is a job as people name it: by its ID, by the beginning or the end of it, or as the newest one.
type jobReference struct {
	id   uuid.UUID // the zero ID where the server must be asked
	part string
}

func parseJobReference(text string) (jobReference, error) {
	if id, err := uuid.Parse(text); err == nil {
		return jobReference{id: id}, nil
	}
	part := strings.ToLower(text)
	if part != lastJob && !partOfID.MatchString(part) {
		return jobReference{}, usageError("%q is not the ID of a job: IDs look like 0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77; the first or last 6 characters will do, and %s is the newest job", text, lastJob)
	}
	return jobReference{part: part}, nil
}

// find asks the server for the job, where the reference is not its ID. IDs begin with the time at which they were made, so that those of one hour look
// alike in front: their ends tell them apart.
func (r jobReference) find(ctx context.Context, c *connection) (uuid.UUID, error) {
	if r.part == "" {
		return r.id, nil
	}
	newest := int64(referable)
	page, err := answer.Read[client.JobList](c.ListJobs(ctx, c.project, &client.ListJobsParams{Limit: &newest}))
	if err != nil {
		return uuid.Nil, explain("looking for the job", err)
	}
	found := r.among(page.Value.Items)
	switch {
	case len(found) == 1, r.part == lastJob && len(found) > 0:
		return found[0].ID, nil
	case len(found) > 1:
		return uuid.Nil, usageError("%s is the beginning or the end of the IDs of %d jobs, %s and %s among them: give more of it", r.part, len(found), found[0].ID, found[1].ID)
	case r.part == lastJob:
		return uuid.Nil, &exitError{code: exitNotFound, err: errors.New("the project has no jobs yet"), hint: "ostraka job run NAME starts one"}
	default:
		return uuid.Nil, &exitError{
			code: exitNotFound, err: fmt.Errorf("none of the %d newest jobs has an ID that begins or ends with %s", len(page.Value.Items), r.part), hint: "ostraka job list shows them; older ones are found by their whole ID",
		}
	}
}

// among returns the jobs that are meant. @last skips those that a rule has made: it means what a person submitted.
func (r jobReference) among(jobs []client.Job) (found []client.Job) {
	for _, j := range jobs {
		id := j.ID.String()
		if r.part == lastJob && j.Parent == nil || strings.HasPrefix(id, r.part) || strings.HasSuffix(id, r.part) {
			found = append(found, j)
		}
	}
	return found
}

// findJob reads a reference to a job, and finds the job.
func findJob(ctx context.Context, c *connection, text string) (uuid.UUID, error) {
	r, err := parseJobReference(text)
	if err != nil {
		return uuid.Nil, err
	}
	return r.find(ctx, c)
}
