package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// allSchedules is a page that holds every schedule of a project: it has at most 100.
const allSchedules = 500

// findSchedule finds a schedule by its ID or its name, which no other one of the project has.
func findSchedule(ctx context.Context, c *connection, text string) (uuid.UUID, error) {
	if id, err := uuid.Parse(text); err == nil {
		return id, nil
	}
	most := int64(allSchedules)
	page, err := answer.Read[client.ScheduleList](c.ListSchedules(ctx, c.project, &client.ListSchedulesParams{Limit: &most}))
	if err != nil {
		return uuid.Nil, explain("looking for the schedule", err)
	}
	for _, s := range page.Value.Items {
		if s.Spec.Name == text {
			return s.ID, nil
		}
	}
	return uuid.Nil, &exitError{code: exitNotFound, err: fmt.Errorf("no schedule has the name or the ID %q", text), hint: "ostraka schedule list shows them"}
}
