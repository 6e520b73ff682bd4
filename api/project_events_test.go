package api_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
)

func (f *fake) Map(_ context.Context, _, job uuid.UUID, w jobs.MapWindow) (jobs.JobMap, error) {
	if job != jobID {
		return jobs.JobMap{}, functions.NotFound("job", job.String())
	}
	return jobs.JobMap{MapWindow: w, Shards: 3, Pages: 1, Data: []byte{0, 1, 4}}, f.begin()
}

func (f *fake) Look(context.Context, uuid.UUID, []uuid.UUID) (jobs.ProjectLook, error) {
	return jobs.ProjectLook{Jobs: []jobs.JobLook{{ID: jobID, State: functions.JobRunning}}}, f.begin()
}

func (f *fake) AgentVersions(context.Context, uuid.UUID) ([]jobs.AgentVersion, error) {
	return []jobs.AgentVersion{{Version: "v1.2.2", Agents: 3}}, f.begin()
}

func TestAMapIsBytes(t *testing.T) {
	r := newRig(t)
	path := in("/jobs/" + jobID.String() + "/map")
	a := r.ask("GET", path+"?mode=state", viewerKey, "", "Accept-Encoding", "identity")
	require.Equal(t, 200, a.StatusCode, "%s", a.body)
	require.Equal(t, "application/octet-stream", a.Header.Get("Content-Type"))
	head, data, _ := strings.Cut(string(a.body), "\n")
	require.JSONEq(t, `{"mode":"state","from":0,"to":0,"shards":3,"pages":1,"bytes":3,"delta":false}`, head)
	require.Equal(t, "\x00\x01\x04", data)
	tag := a.Header.Get("ETag")
	require.Equal(t, 304, r.ask("GET", path, viewerKey, "", "If-None-Match", tag).StatusCode)
	require.Equal(t, "gzip", r.ask("GET", path, viewerKey, "", "Accept-Encoding", "gzip").Header.Get("Content-Encoding"))
	require.Contains(t, string(r.ask("GET", path+"?since="+strings.ReplaceAll(tag, `"`, "%22"), viewerKey, "", "Accept-Encoding", "identity").body), `"delta":true`)
	require.Equal(t, 422, r.ask("GET", path+"?mode=colour", viewerKey, "").problem(t).Status)
	require.Equal(t, "not_found", r.ask("GET", in("/jobs/"+thingID.String()+"/map"), viewerKey, "").problem(t).Code)
}

func TestVersions(t *testing.T) {
	var v api.Versions
	newRig(t, withPortal).ask("GET", "/v1/versions", viewerKey, "").decode(t, 200, &v)
	require.Equal(t, "v1.2.3", v.Server)
	require.Len(t, v.Portal, 16)
	require.Equal(t, []jobs.AgentVersion{{Version: "v1.2.2", Agents: 3}}, v.Agents)
}

func TestAProjectIsWatched(t *testing.T) {
	r := newRig(t)
	watch := func(path string, headers ...string) (*client.EventReader, *bufio.Reader) {
		response, err := new(http.Client).Do(r.request("GET", in("/events"+path), viewerKey, nil, headers...))
		require.NoError(t, err)
		t.Cleanup(func() { response.Body.Close() })
		require.Equal(t, 200, response.StatusCode)
		require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
		require.Equal(t, "no", response.Header.Get("X-Accel-Buffering"))
		body := bufio.NewReader(response.Body)
		return client.NewEventReader(body), body
	}
	first, _ := watch("")
	var kinds []string
	var id string
	for range 3 {
		e, err := first.Next()
		require.NoError(t, err)
		kinds = append(kinds, e.Type)
		id = e.ID
	}
	require.Equal(t, []string{"job", "flags", "agents"}, kinds)

	again, _ := watch("?topics=flags", "Last-Event-ID", "other-7")
	e, err := again.Next()
	require.NoError(t, err)
	require.Equal(t, "reset", e.Type, "the viewer reads everything anew")
	e, err = again.Next()
	require.NoError(t, err)
	require.Equal(t, "flags", e.Type)

	_, body := watch("", "Last-Event-ID", id)
	line, err := body.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, ": watching\n", line, "nothing is told twice")
	for _, bad := range []string{"everything", "job:x", "jobs,", strings.Repeat("jobs,", 50) + "jobs"} {
		require.Equal(t, "bad_topics", r.ask("GET", in("/events?topics="+bad), viewerKey, "").problem(t).Code, bad)
	}
}
