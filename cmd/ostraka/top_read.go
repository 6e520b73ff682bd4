package main

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/cmd/ostraka/internal/top"
)

// silentAgent is for how long an agent may be silent before that is said: some heartbeats.
const silentAgent = time.Minute

// maxTop is how many jobs of a state, agents or sandboxes are read for one screen: more than anybody scrolls through.
const maxTop = 200

// readTop reads how a project is.
func readTop(ctx context.Context, c *connection) (top.Sample, error) {
	project, err := answer.Read[client.Project](c.GetProject(ctx, c.project, nil))
	if err != nil {
		return top.Sample{}, explain("reading the project", err)
	}
	s := top.Sample{At: time.Now(), Where: topTitle(c, "project "+project.Value.Name), Jobs: []top.Job{}, Agents: []top.Agent{}}
	known := map[uuid.UUID]bool{} // a job that has gone on between two lists is in both
	for _, state := range []client.JobState{client.JobStateRunning, client.JobStateAggregating, client.JobStateReview, client.JobStateHeld, client.JobStateSplitting} {
		list, _, more, err := gather[client.Job](maxTop, func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListJobs(ctx, c.project, &client.ListJobsParams{State: new(state), Cursor: cursor, Limit: size})
		})
		if err != nil {
			return s, explain("listing jobs", err)
		}
		s.More = s.More || more
		for _, j := range list {
			if !known[j.ID] {
				known[j.ID] = true
				s.Jobs = append(s.Jobs, topJob(j))
			}
		}
	}
	boxes, moreBoxes, err := topBoxes(func(params *client.ListSandboxesParams) (*http.Response, error) {
		return c.ListProjectSandboxes(ctx, c.project, new(client.ListProjectSandboxesParams(*params)))
	})
	if err != nil {
		return s, err
	}
	agents, _, more, err := gather[client.ProjectAgent](maxTop, func(cursor *string, size *int64) (*http.Response, error) {
		return c.ListProjectAgents(ctx, c.project, &client.ListProjectAgentsParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return s, explain("listing agents", err)
	}
	s.More = s.More || more || moreBoxes
	for _, a := range agents {
		s.Agents = append(s.Agents, top.Agent{
			Name: plain(a.Name), State: memberState(a), Idle: topIdle(a.Idle), Unheard: unheard(s.At, a.LastSeenAt), Agreed: a.Passed, Contradicted: a.Failed, Boxes: boxes[a.ID],
		})
	}
	return s, nil
}

// readTopOfAll reads how an installation is.
func readTopOfAll(ctx context.Context, c *connection) (top.Sample, error) {
	status, err := answer.Read[client.InstallationStatus](c.GetStatus(ctx))
	if err != nil {
		return top.Sample{}, explain("asking how the installation is", err)
	}
	s := top.Sample{At: time.Now(), Where: topTitle(c, "the installation"), Whole: true, Jobs: []top.Job{}, Agents: []top.Agent{}}
	for _, r := range judgeStatus(status.Value) {
		if r.Needs {
			s.Remarks = append(s.Remarks, plain(r.Text))
		}
	}
	for _, p := range status.Value.Waits {
		s.Projects = append(s.Projects, top.Project{Name: plain(p.Name), Jobs: p.OpenJobs, Shards: p.OpenShards, Flags: p.Flags, Incidents: p.Incidents, Approvals: p.Approvals})
	}
	boxes, moreBoxes, err := topBoxes(func(params *client.ListSandboxesParams) (*http.Response, error) { return c.ListSandboxes(ctx, params) })
	if err != nil {
		return s, err
	}
	agents, _, more, err := gather[client.Agent](maxTop, func(cursor *string, size *int64) (*http.Response, error) {
		return c.ListAgents(ctx, &client.ListAgentsParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return s, explain("listing all agents", err)
	}
	s.More = more || moreBoxes
	for _, a := range agents {
		s.Agents = append(s.Agents, top.Agent{Name: plain(a.Name), State: string(a.State), Idle: topIdle(a.Idle), Unheard: unheard(s.At, a.LastSeenAt), Boxes: boxes[a.ID]})
	}
	return s, nil
}

func topJob(j client.Job) top.Job {
	seen := top.Job{
		ID: j.ID, Function: plain(j.Function), State: listedState(j), Review: j.Shards.Review,
		Done: j.Shards.Accepted + j.Shards.Failed + j.Shards.Cancelled, Total: j.Shards.Total,
	}
	if j.StartedAt != nil {
		seen.Since = *j.StartedAt
	}
	return seen
}

// topBoxes are the sandboxes that run, by agent.
func topBoxes(page func(params *client.ListSandboxesParams) (*http.Response, error)) (boxes map[uuid.UUID][]top.Box, more bool, err error) {
	list, _, more, err := gather[client.Sandbox](maxTop, func(cursor *string, size *int64) (*http.Response, error) {
		return page(&client.ListSandboxesParams{Running: new(true), Cursor: cursor, Limit: size})
	})
	if err != nil {
		return nil, false, explain("listing sandboxes", err)
	}
	boxes = map[uuid.UUID][]top.Box{}
	for _, b := range list {
		box := top.Box{Function: plain(functionOf(b)), Shard: b.Shard}
		if b.Sample != nil {
			box.CPU, box.Memory = b.Sample.CPUPercent, b.Sample.MemoryBytes
		}
		boxes[b.Agent] = append(boxes[b.Agent], box)
	}
	return boxes, more, nil
}

func topIdle(i *client.Idle) string {
	if i == nil {
		return ""
	}
	return plain(i.Code)
}

// unheard is for how many seconds an agent has been silent, where that is long.
func unheard(now time.Time, seen *time.Time) float64 {
	if seen == nil || now.Sub(*seen) < silentAgent {
		return 0
	}
	return now.Sub(*seen).Seconds()
}
