package agent

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/ostraka/ostraka/client/answer"
)

// persist makes a call until it works, its error is final, or the context ends. A server that is away, busy or broken is asked
// again with growing, random waits; with one that no longer knows its key the agent enrols again. One that takes another process
// for the agent is asked again only by a process that it has never let in: one that was let in before has been replaced, and ends.
func (a *agent) persist(ctx context.Context, doing string, call func(context.Context) error) error {
	var waits backoff
	enrolled := false
	for {
		err := call(ctx)
		switch {
		case err == nil:
			a.outage.over()
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isStatus(err, http.StatusUnauthorized) && !enrolled:
			enrolled = true
			if err := a.enrolAgain(ctx); err != nil {
				return err
			}
			continue
		case errors.Is(err, errDuplicate) && !a.server.admitted.Load():
			// Another process has this agent's key, and the server cannot know which of us is who: it may be dead, and then our turn comes.
		case !answer.Temporary(err):
			return err
		}
		wait := max(waits.next(), min(retryAfter(err), maxRetryAfter))
		a.outage.note(doing, err)
		if !sleep(ctx, wait) {
			return context.Cause(ctx)
		}
	}
}

func isStatus(err error, status int) bool {
	var problem *answer.Error
	return errors.As(err, &problem) && problem.HTTPStatus == status
}

func retryAfter(err error) time.Duration {
	var problem *answer.Error
	if errors.As(err, &problem) {
		return problem.RetryAfter
	}
	return 0
}

// maxOutageText is how much of an error the agent's status repeats, in characters.
const maxOutageText = 150

// outage says that the server is away: when it is noticed, and once a minute for as long as it lasts.
type outage struct {
	log    *slog.Logger
	mu     sync.Mutex
	since  time.Time
	saidAt time.Time
	why    string
}

// lasts is for how long the server has been away, and what is wrong; 0 when it is there.
func (o *outage) lasts() (time.Duration, string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return 0, ""
	}
	return max(time.Since(o.since), 1), o.why
}

func (o *outage) note(doing string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	o.why = cutText(err.Error(), maxOutageText)
	if o.since.IsZero() {
		o.since = now
	} else if now.Sub(o.saidAt) < sayEvery {
		return
	}
	o.saidAt = now
	o.log.Warn("the server cannot be used now; trying again until it can", "doing", doing, "error", err, "for", now.Sub(o.since).Round(time.Second))
}

func (o *outage) over() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return
	}
	o.log.Info("the server can be used again", "after", time.Since(o.since).Round(time.Second))
	o.since = time.Time{}
}
