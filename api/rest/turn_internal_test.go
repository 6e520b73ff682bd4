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
	"github.com/ostraka/ostraka/testenv"
)

// callOf is a request with a key of the project.
func callOf(project uuid.UUID, path string) *Call {
	return &Call{Principal: functions.Principal{Project: project}, Request: httptest.NewRequest(http.MethodGet, path, nil)}
}

func serverWithTurns(turns *recheck.Turns) *Server {
	s := NewServer(nil, slog.New(slog.DiscardHandler), "")
	s.Doors.turns = turns
	return s
}

// TestRequestsOfWhoTakesMore has a project send many requests that do not end, while another one is at work: of those that come then only its
// part begins, and those that wait for something, or that are as slow as their client, begin all the same.
func TestRequestsOfWhoTakesMore(t *testing.T) {
	var now time.Time
	const shared = 4
	s := serverWithTurns(recheck.NewOpenTurns(64, shared, recheck.NewLoads(func() time.Time { return now })))
	greedy, modest := uuid.New(), uuid.New()
	var ends []func()
	begins := func(project uuid.UUID) {
		t.Helper()
		done, err := s.takeTurn(t.Context(), Operation{}, callOf(project, "/"))
		require.NoError(t, err)
		ends = append(ends, done)
	}
	for range 10 * shared {
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
	testenv.Eventually(t, func() bool { return s.Doors.turns.Waiting(greedy, false) == 1 }, "the request waits for its turn")
	for op, path := range map[*Operation]string{{Ends: true}: "/", {Stream: true}: "/", {Waits: true}: "/", {}: "/?wait=1s", {Body: Body{Stream: OctetStream}}: "/"} {
		done, err := s.takeTurn(t.Context(), *op, callOf(greedy, path))
		require.NoError(t, err)
		done()
	}
	for range shared {
		begins(modest)
	}
	leave()
	require.ErrorIs(t, <-refused, context.Canceled)
	for _, end := range ends {
		end()
	}
	begins(greedy)
}

// TestProjectsTakeNoTurnsOfOthers has many projects hold all they may: another one begins at once. Who has all it may is told to come again, and
// may end what runs all the same.
func TestProjectsTakeNoTurnsOfOthers(t *testing.T) {
	const most = 3
	s := serverWithTurns(recheck.NewOpenTurns(most, most, nil))
	s.Doors.turnWait = time.Millisecond
	begin := func(project uuid.UUID, op Operation) error {
		_, err := s.takeTurn(t.Context(), op, callOf(project, "/"))
		return err
	}
	for range 5 {
		greedy := uuid.New()
		for range most {
			require.NoError(t, begin(greedy, Operation{}))
		}
		problem, known := ProblemOf(begin(greedy, Operation{}))
		require.True(t, known)
		require.Equal(t, http.StatusServiceUnavailable, problem.Status)
		require.Equal(t, CodeBusy, problem.Code)
		require.NotEmpty(t, problem.GetHeaders().Get("Retry-After"))
		require.Zero(t, s.Doors.turns.Waiting(greedy, false), "it no longer waits")
		require.NoError(t, begin(greedy, Operation{Ends: true}))
	}
	s.Doors.turnWait = time.Hour
	require.NoError(t, begin(uuid.New(), Operation{}))
}
