package api_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/functions"
)

// slowJobs is a fake whose jobs are looked at for as long as the test likes.
type slowJobs struct {
	*fake
	began, end chan struct{}
}

func (s *slowJobs) GetJob(context.Context, uuid.UUID, uuid.UUID) (functions.Job, error) {
	s.began <- struct{}{}
	<-s.end
	return s.job, nil
}

// TestWhatEndsSomethingNeedsNoTurn has a project work on as many requests as it may: it can end all the same what sends them or runs for it.
func TestWhatEndsSomethingNeedsNoTurn(t *testing.T) {
	const atOnce = 256
	slow := &slowJobs{began: make(chan struct{}, atOnce), end: make(chan struct{})}
	r := newRig(t, func(o *api.Options) {
		slow.fake = o.Service.(*fake) //nolint:forcetypeassert // it is the rig's
		o.Service = slow
	})
	release := sync.OnceFunc(func() { close(slow.end) })
	defer release()
	answered := make(chan error, atOnce)
	for range atOnce {
		request := r.request("GET", in("/jobs/"+jobID.String()), ownerKey, nil)
		go func() {
			answer, err := new(http.Client).Do(request)
			if err == nil {
				err = answer.Body.Close()
			}
			answered <- err
		}()
	}
	for range atOnce {
		<-slow.began
	}
	id := uuid.NewString()
	for _, what := range []struct{ method, path, body string }{
		{"POST", in("/killswitches/on"), `{"scope":"project","reason":"too much"}`},
		{"POST", in("/jobs/" + id + "/cancel"), ""},
		{"POST", in("/workflow-runs/" + id + "/cancel"), ""},
		{"POST", in("/bulk-actions/" + id + "/cancel"), ""},
		{"POST", in("/sandboxes/" + id + "/terminate"), `{}`},
		{"DELETE", in("/keys/" + id), ""},
		{"DELETE", in("/enrolment-tokens/" + id), ""},
		{"DELETE", "/v1/sessions/" + id, ""},
	} {
		a := r.ask(what.method, what.path, ownerKey, what.body)
		require.Less(t, a.StatusCode, 300, "%s %s: %s", what.method, what.path, strings.TrimSpace(string(a.body)))
	}
	release()
	for range atOnce {
		require.NoError(t, <-answered)
	}
}
