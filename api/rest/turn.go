package rest

import (
	"context"
	"runtime"

	"github.com/google/uuid"
)

// requestsAtOnce is how many requests of a project are worked at a time on one server.
const requestsAtOnce = 256

// requestsShared is how many of them the projects that take more than others have together while those are at work: two for each processor,
// since one mostly waits for the database.
func requestsShared() int { return 2 * runtime.NumCPU() }

// takeTurn waits for the turn of a request's project, so that one that asks for all of the processors leaves them to others. A request that
// waits for something to happen, or whose body takes as long as its client does, holds no turn; neither does an answer that is being sent.
func (s *Server) takeTurn(ctx context.Context, op Operation, c *Call) (done func(), err error) {
	project := c.Principal.Project
	if project == uuid.Nil || op.Stream || op.Waits || op.Body.Stream != "" || c.Request.URL.Query().Get("wait") != "" {
		return func() {}, nil
	}
	if err := s.Doors.turns.Take(ctx, project, false); err != nil {
		return nil, err
	}
	return func() { s.Doors.turns.Give(project, false) }, nil
}
