package rest

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"github.com/google/uuid"
)

// requestsAtOnce is how many requests of a project are worked at a time on one server.
const requestsAtOnce = 256

// requestsShared is how many of them the projects that take more than others have together while those are at work: two for each processor,
// since one mostly waits for the database.
func requestsShared() int { return 2 * runtime.NumCPU() }

// turnWait is how long a request waits for its turn. Its client keeps what it wants to do in the mean time, and this server a connection.
const turnWait = 10 * time.Second

// takeTurn waits for the turn of a request's project, so that one that asks for all of the processors leaves them to others. A request that
// waits for something to happen, or whose body takes as long as its client does, holds no turn; neither does an answer that is being sent. What
// ends something waits for nothing, since what it is to end may be what it would wait for.
func (s *Server) takeTurn(ctx context.Context, op Operation, c *Call) (done func(), err error) {
	project := c.Principal.Project
	if project == uuid.Nil || op.Ends || op.Stream || op.Waits || op.Body.Stream != "" || c.Request.URL.Query().Get("wait") != "" {
		return func() {}, nil
	}
	waiting, stop := context.WithTimeoutCause(ctx, s.Doors.turnWait, NewProblem(http.StatusServiceUnavailable, CodeBusy,
		"the server works on as many requests of the project as it may", "send it again after Retry-After, and fewer requests at a time"))
	defer stop()
	if err := s.Doors.turns.Take(waiting, project, false); err != nil {
		return nil, err
	}
	return func() { s.Doors.turns.Give(project, false) }, nil
}
