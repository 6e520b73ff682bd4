package rest

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ostraka/ostraka/functions/fleet"
)

// MaxWait is how long a request may wait for something to happen: below the idle time-out of common proxies.
const MaxWait = fleet.MaxLeaseWait

// answerMargin is how long a server may take to answer after a wait has ended.
const answerMargin = 30 * time.Second

// Waiting is the parameter of operations that can wait.
type Waiting struct {
	Wait string `query:"wait" maxLength:"20" example:"25s" doc:"How long to wait for something to happen, 60s at most; not at all when left out."`
}

// WaitTime reads how long to wait, and lets the connection live that long.
func (w Waiting) WaitTime(c *Call) (time.Duration, error) {
	if w.Wait == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(w.Wait)
	if err != nil || d < 0 || d > MaxWait {
		return 0, NewProblem(http.StatusUnprocessableEntity, CodeBadWait, fmt.Sprintf("wait %s is not a time from 0s to %s", Quoted(w.Wait), MaxWait),
			"write for example wait=25s, and ask again when the answer has nothing new")
	}
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(d + answerMargin))
	return d, nil
}

// UntilStopping is the context of a request that waits: it ends early when the server stops.
func (s *Server) UntilStopping(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	release := context.AfterFunc(s.Stopping, cancel)
	return ctx, func() { release(); cancel() }
}

// NotModified documents that an answer may be 304.
func NotModified() map[string]*huma.Response {
	return map[string]*huma.Response{"304": {Description: "Nothing has changed since the answer with this ETag."}}
}
