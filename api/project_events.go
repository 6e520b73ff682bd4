package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions/jobs"
)

const (
	// viewLife is how long a stream of a project's events lives before the viewer connects again: whose key or session was revoked sees no
	// more than this.
	viewLife = 15 * time.Minute
	// maxTopics is how many topics a viewer names.
	maxTopics = 50
)

// WatchProjectInput asks for the events of a project as they happen.
type WatchProjectInput struct {
	rest.InProject
	LastEventID string `header:"Last-Event-ID" maxLength:"100" doc:"The id of the last event that was received; browsers send it by themselves."`
	Topics      string `query:"topics" maxLength:"2500" doc:"Of which to hear, with commas between: jobs, job:ID, flags, agents. All when left out."`
}

func (s *server) projectEventOperations() {
	registry := s.Huma.OpenAPI().Components.Schemas
	answer := rest.BytesAnswer(rest.EventStreamType, "Server-sent events.")
	answer["200"].Content[rest.EventStreamType].Schema.Extensions = map[string]any{
		"x-ostraka-job":    rest.RefTo(rest.SchemaOf(registry, ProjectJob{})),
		"x-ostraka-flags":  rest.RefTo(rest.SchemaOf(registry, jobs.FlagsLook{})),
		"x-ostraka-agents": rest.RefTo(rest.SchemaOf(registry, jobs.AgentsLook{})),
	}
	rest.Register(s.Server, rest.Operation{
		ID: "watchProject", Method: http.MethodGet, Path: "/v1/projects/{project}/events", Tag: "projects", Summary: "Watch a project",
		About: "Server-sent events that say how things are, and not what has happened: what changes often is told at most twice a second. An event `job` holds a ProjectJob, " +
			"`flags` a FlagsLook, `agents` an AgentsLook. Jobs are the newest that go on, and those that `topics` names. " +
			"A stream goes on after `Last-Event-ID`; where the server does not know that any more it sends `reset` and then everything. " +
			"It ends after 15 minutes; connect again. However many watch, the server looks once for all.",
		Access: rest.Readers(), Answers: answer, Stream: true,
	}, s.watchProject)
}

func (s *server) watchProject(ctx context.Context, c *rest.Call, in *WatchProjectInput) (*rest.StreamOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	topics, jobs, err := readTopics(in.Topics)
	if err != nil {
		return nil, err
	}
	v := &projectView{server: s, call: c, topics: topics}
	return &rest.StreamOutput{Body: func(hc huma.Context) {
		ctx, done := s.UntilStopping(ctx)
		defer done()
		ctx, cancel := context.WithTimeout(ctx, viewLife)
		defer cancel()
		var leave func()
		v.hub, leave = s.hubs.join(project, jobs)
		defer leave()
		hc.SetHeader("Content-Type", rest.EventStreamType)
		hc.SetHeader("X-Accel-Buffering", "no") // nginx would hold events back
		hc.SetStatus(http.StatusOK)
		v.follow(ctx, in.LastEventID)
	}}, nil
}

// readTopics reads which topics somebody wants.
func readTopics(text string) (topics []string, jobs []uuid.UUID, err error) {
	if text == "" {
		return nil, nil, nil
	}
	topics = strings.Split(text, ",")
	bad := len(topics) > maxTopics
	for _, topic := range topics {
		id, isJob := strings.CutPrefix(topic, topicJob+":")
		parsed, err := uuid.Parse(id)
		switch {
		case isJob && err == nil && parsed.String() == id:
			jobs = append(jobs, parsed)
		case isJob || topic != "jobs" && topic != topicFlags && topic != topicAgents:
			bad = true
		}
	}
	if bad {
		return nil, nil, rest.NewProblem(http.StatusUnprocessableEntity, rest.CodeBadTopics, "topics is not a list of what can be watched",
			fmt.Sprintf("name up to %d of jobs, job:ID, flags and agents, with commas between", maxTopics))
	}
	return topics, jobs, nil
}

// projectView is one stream of a project's events.
type projectView struct {
	server *server
	call   *rest.Call
	hub    *hub
	topics []string
	buffer bytes.Buffer
}

// follow sends what is different from what the viewer has seen, and waits until more is. It ends when the viewer goes.
func (v *projectView) follow(ctx context.Context, lastID string) {
	seq, known := v.hub.resume(lastID)
	if lastID != "" && !known {
		v.buffer.WriteString("event: reset\ndata: {}\n\n")
	} else {
		v.buffer.WriteString(": watching\n\n") // so that the viewer knows at once that it is connected
	}
	heartbeat := time.NewTicker(rest.HeartbeatEvery)
	defer heartbeat.Stop()
	for {
		news, now, changed := v.hub.since(seq, v.topics)
		for _, state := range news {
			fmt.Fprintf(&v.buffer, "id: %s\nevent: %s\ndata: %s\n\n", v.hub.id(state.seq), state.kind, state.data)
		}
		seq = now
		if v.send() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-heartbeat.C:
			v.buffer.WriteString(": still here\n\n")
		}
	}
}

func (v *projectView) send() error {
	if v.buffer.Len() == 0 {
		return nil
	}
	control := http.NewResponseController(v.call.Writer)
	_ = control.SetWriteDeadline(time.Now().Add(rest.StreamIdle))
	if _, err := v.buffer.WriteTo(v.call.Writer); err != nil {
		return err
	}
	return control.Flush()
}
