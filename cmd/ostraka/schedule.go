package main

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newSchedule(t *terminal, server *serverFlags) *cobra.Command {
	return noun("schedule", "Schedules, which submit a job or start a workflow later, again and again",
		newScheduleCreate(t, server), newScheduleList(t, server), newScheduleShow(t, server), newSchedulePause(t, server),
		newScheduleResume(t, server), newScheduleRun(t, server), newScheduleDelete(t, server), newScheduleNext(t))
}

func newScheduleList(t *terminal, server *serverFlags) *cobra.Command {
	cmd := newList(server, "List schedules", func(ctx context.Context, c *connection, l *listFlags) error {
		return show(t, l, "listing schedules", []string{"SCHEDULE", "NAME", "TIMES", "RUNS", "NEXT", "FAILED"},
			func(s client.Schedule) []string {
				next := "none"
				switch {
				case s.Spec.Paused:
					next = "paused"
				case s.Waits:
					next = "waits"
				case s.NextAt != nil:
					next = shortTime(*s.NextAt)
				}
				return []string{s.ID.String(), s.Spec.Name, timesText(s.Spec), runsText(s.Spec), next, strconv.FormatInt(s.Failures, 10)}
			},
			func(cursor *string, size *int64) (*http.Response, error) {
				return c.ListSchedules(ctx, c.project, &client.ListSchedulesParams{Cursor: cursor, Limit: size})
			})
	})
	cmd.Example = "  ostraka schedule list -o json"
	return cmd
}

// runsText says what a schedule makes: a job of a function, or a run of a workflow.
func runsText(s client.ScheduleRequest) string {
	switch {
	case s.Workflow != nil:
		return "workflow " + plain(s.Workflow.Name)
	case s.Job != nil:
		return plain(s.Job.Function)
	default:
		return ""
	}
}

// timesText says in a few words when a schedule is due.
func timesText(s client.ScheduleRequest) string {
	if s.Every != "" {
		return "every " + s.Every
	}
	return plain(s.Cron) + " " + firstOf(s.TimeZone, "UTC")
}

// aboutSchedule makes a command about one schedule.
func aboutSchedule(server *serverFlags, verb, short string, do func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error) *cobra.Command {
	return named{noun: "schedule", argument: "SCHEDULE", example: "nightly", names: scheduleNames, find: findSchedule}.about(server, verb, short, do)
}

func newScheduleShow(t *terminal, server *serverFlags) *cobra.Command {
	return aboutSchedule(server, "show", "Show a schedule, its next times and the outcome of the last ones", func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error {
		doc, err := answer.Read[client.ScheduleDetail](c.GetSchedule(ctx, c.project, id))
		if err != nil {
			return explain("getting the schedule", err)
		}
		return showSchedule(t, output, doc)
	})
}

func newSchedulePause(t *terminal, server *serverFlags) *cobra.Command {
	return aboutSchedule(server, "pause", "Have no time of a schedule come until it is resumed", func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error {
		doc, err := answer.Read[client.ScheduleDetail](c.PauseSchedule(ctx, c.project, id, nil))
		if err != nil {
			return explain("pausing the schedule", err)
		}
		return showSchedule(t, output, doc)
	})
}

func newScheduleResume(t *terminal, server *serverFlags) *cobra.Command {
	return aboutSchedule(server, "resume", "Resume a schedule; times that a pause has missed do not come", func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error {
		doc, err := answer.Read[client.ScheduleDetail](c.ResumeSchedule(ctx, c.project, id, nil))
		if err != nil {
			return explain("resuming the schedule", err)
		}
		return showSchedule(t, output, doc)
	})
}

func newScheduleRun(t *terminal, server *serverFlags) *cobra.Command {
	var key string
	cmd := aboutSchedule(server, "run", "Submit the job of a schedule now, whatever else of it runs", func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error {
		if key == "" {
			key = uuid.NewString()
		}
		doc, err := answer.Read[client.Job](c.RunSchedule(ctx, c.project, id, &client.RunScheduleParams{IdempotencyKey: &key}))
		if err != nil {
			return explain("running the schedule", err)
		}
		return showJob(t, output, doc.Raw, doc.Value)
	})
	cmd.Example = "  ostraka schedule run nightly\n  ostraka schedule run nightly --idempotency-key $BUILD   # sent again it is the same job"
	cmd.Flags().StringVar(&key, "idempotency-key", "", "the same key submits the same job once, however often it is sent")
	return cmd
}

func newScheduleDelete(t *terminal, server *serverFlags) *cobra.Command {
	return aboutSchedule(server, "delete", "Delete a schedule; jobs and runs that it made stay", func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error {
		doc, err := deleteSchedule(ctx, c, id)
		if err != nil {
			return explain("deleting the schedule", err)
		}
		t.say("deleted the schedule %s", id)
		if output.json() {
			return writeJSON(t.out, doc.Raw)
		}
		return nil
	})
}

// deleteSchedule deletes the schedule as it is now, and returns it. Somebody who changes it in between is not overruled.
func deleteSchedule(ctx context.Context, c *connection, id uuid.UUID) (answer.Document[client.ScheduleDetail], error) {
	doc, err := answer.Read[client.ScheduleDetail](c.GetSchedule(ctx, c.project, id))
	if err != nil {
		return doc, err
	}
	tag := doc.Header.Get("ETag")
	if tag == "" {
		return doc, errors.New("the server sent no ETag with the schedule")
	}
	_, err = answer.Read[struct{}](c.DeleteSchedule(ctx, c.project, id, &client.DeleteScheduleParams{IfMatch: &tag}))
	return doc, err
}

func createSchedule(ctx context.Context, c *connection, spec []byte) (answer.Document[client.ScheduleDetail], error) {
	key := uuid.NewString()
	doc, err := answer.Read[client.ScheduleDetail](c.CreateScheduleWithBody(ctx, c.project, &client.CreateScheduleParams{IdempotencyKey: &key}, "application/json", bytes.NewReader(spec)))
	return doc, explain("creating the schedule", err)
}

func showSchedule(t *terminal, o *outputFlag, doc answer.Document[client.ScheduleDetail]) error {
	s := doc.Value
	fields := [][2]string{
		{"schedule", s.ID.String()},
		{"name", s.Spec.Name},
		{"times", timesText(s.Spec)},
		{"jitter", s.Spec.Jitter},
		{"overlap", string(s.Spec.Overlap)},
		{"catch up", string(s.Spec.CatchUp)},
		{"runs", runsText(s.Spec)},
		{"paused", yes(s.Spec.Paused)},
		{"because", plain(s.PauseReason)},
		{"last error", plain(s.LastError)},
		{"created", shortTime(s.CreatedAt) + " by " + plain(s.CreatedBy)},
	}
	if s.Waits {
		fields = append(fields, [2]string{"waits", "for what an earlier time made to end"})
	}
	if s.Spec.Workflow != nil {
		for _, name := range slices.Sorted(maps.Keys(s.Spec.Workflow.Parameters)) {
			fields = append(fields, [2]string{"parameter", plain(name + " = " + string(s.Spec.Workflow.Parameters[name]))})
		}
	}
	for _, next := range s.Next {
		fields = append(fields, [2]string{"next", shortTime(next.Due)})
	}
	for _, f := range s.Firings {
		text := shortTime(f.At) + " " + string(f.Outcome)
		if f.Job != nil {
			text += ": job " + f.Job.String()
		}
		if f.Run != nil {
			text += ": run " + f.Run.String()
		}
		if f.Detail != "" {
			text += ": " + plain(f.Detail)
		}
		fields = append(fields, [2]string{"was", text})
	}
	return printOne(t, o, doc.Raw, fields)
}
