package jobs

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
)

// Events is what the API asks of the domain about what happens to a job.
type Events interface {
	ListEvents(ctx context.Context, project, job uuid.UUID, since int64, limit int) ([]functions.Event, error) // seq > since
	// Watch delivers a token whenever something has happened to the job. Its counts may change without.
	Watch(ctx context.Context, project, job uuid.UUID) (changed <-chan struct{}, stop func())
}

// WatchJobInput asks for the events of a job as they happen.
type WatchJobInput struct {
	rest.JobPath
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event that was received; browsers send it by themselves."`
	Since       int64  `query:"since" minimum:"0" doc:"The same as a parameter. All events when neither is given."`
}

// ListEventsInput asks for the events of a job that have happened.
type ListEventsInput struct {
	rest.JobPath
	Since int64 `query:"since" minimum:"0" doc:"Only events with a larger seq."`
	Limit int   `query:"limit" minimum:"1" maximum:"500" default:"100"`
}

// EventLog are events of a job.
type EventLog struct {
	Items []functions.Event `json:"items"`
	Next  int64             `json:"next" doc:"Give it as since to get the events after these."`
}

type eventLogOutput struct {
	Body EventLog
}

func (s *server) eventOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "watchJob", Method: http.MethodGet, Path: rest.JobsPath + "/{job}/events", Tag: "jobs", Summary: "Watch a job",
		About: "Server-sent events. Each event of the job has its seq as `id`, its type as `event` and an Event as `data`. In between come events " +
			"of type `progress` without an id, whose `data` is a JobProgress. The stream ends after the job's last event.",
		Access: rest.Readers(), Answers: eventStream(s), Stream: true,
	}, s.watchJob)
	rest.Register(s.Server, rest.Operation{
		ID: "listEvents", Method: http.MethodGet, Path: rest.JobsPath + "/{job}/event-log", Tag: "jobs", Summary: "List the events of a job",
		About: "The same events as JSON, for clients that cannot read a stream.", Access: rest.Readers(),
	}, s.listEvents)
}

func eventStream(s *server) map[string]*huma.Response {
	registry := s.Huma.OpenAPI().Components.Schemas
	answer := rest.BytesAnswer(rest.EventStreamType, "Server-sent events.")
	answer["200"].Content[rest.EventStreamType].Schema.Extensions = map[string]any{
		"x-ostraka-event":    rest.RefTo(rest.SchemaOf(registry, functions.Event{})),
		"x-ostraka-progress": rest.RefTo(rest.SchemaOf(registry, JobProgress{})),
	}
	return answer
}

func (s *server) watchJob(ctx context.Context, c *rest.Call, in *WatchJobInput) (*rest.StreamOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	since, err := in.since()
	if err != nil {
		return nil, err
	}
	now, err := s.service.GetJob(ctx, project, job)
	if err != nil { // while a problem can still be told
		return nil, err
	}
	// What lies ahead of the job's events is no place to continue from: those who watch the job share where they are.
	w := &watch{server: s, call: c, project: project, job: job, seq: min(since, now.EventSeq)}
	return &rest.StreamOutput{Body: w.run}, nil
}

func (in *WatchJobInput) since() (int64, error) {
	if in.LastEventID == "" {
		return in.Since, nil
	}
	n, err := strconv.ParseInt(in.LastEventID, 10, 64)
	if err != nil || n < 0 {
		return 0, rest.NewProblem(http.StatusUnprocessableEntity, rest.CodeBadEventID, "Last-Event-ID is not the id of an event of this stream",
			"send the id of the last event that was received, or leave the header out")
	}
	return n, nil
}

func (s *server) listEvents(ctx context.Context, _ *rest.Call, in *ListEventsInput) (*eventLogOutput, error) {
	project, job, err := in.IDs()
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListEvents(ctx, project, job, in.Since, in.Limit)
	if err != nil {
		return nil, err
	}
	log := EventLog{Items: []functions.Event{}, Next: in.Since}
	if len(items) > 0 {
		log.Items, log.Next = items, items[len(items)-1].Seq
	}
	return &eventLogOutput{Body: log}, nil
}
