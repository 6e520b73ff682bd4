package rest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// callOf is a request with a key of the project.
func callOf(project uuid.UUID, path string) *Call {
	return &Call{Principal: functions.Principal{Project: project}, Request: httptest.NewRequest(http.MethodGet, path, nil)}
}

// TestRequestsOfWhoTakesMore has a project send many requests that do not end, while another one is at work: of those that come then only its
// part begins, and those that wait for something, or that are as slow as their client, begin all the same.
func TestRequestsOfWhoTakesMore(t *testing.T) {
	var now time.Time
	loads := recheck.NewLoads(func() time.Time { return now })
	s := NewServer(nil, slog.New(slog.DiscardHandler), "")
	s.Doors = NewDoors(Limits{Loads: loads})
	greedy, modest := uuid.New(), uuid.New()
	var ends []func()
	begins := func(project uuid.UUID) {
		t.Helper()
		done, err := s.takeTurn(t.Context(), Operation{}, callOf(project, "/"))
		require.NoError(t, err)
		ends = append(ends, done)
	}
	for range 10 * requestsShared() {
		begins(greedy) // nobody else is there
	}
	now = now.Add(time.Second)
	begins(modest)
	now = now.Add(time.Second)
	waiting, leave := context.WithCancel(t.Context())
	refused := make(chan error)
	go func() {
		_, err := s.takeTurn(waiting, Operation{}, callOf(greedy, "/"))
		refused <- err
	}()
	for s.Doors.turns.Waiting(greedy, false) == 0 {
	}
	for op, path := range map[*Operation]string{{Stream: true}: "/", {Waits: true}: "/", {}: "/?wait=1s", {Body: Body{Stream: OctetStream}}: "/"} {
		done, err := s.takeTurn(t.Context(), *op, callOf(greedy, path))
		require.NoError(t, err)
		done()
	}
	for range requestsShared() {
		begins(modest)
	}
	leave()
	require.ErrorIs(t, <-refused, context.Canceled)
	for _, end := range ends {
		end()
	}
	begins(greedy)
}
