package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ostraka/ostraka/api/rest"
)

// Readiness is what the API asks of the domain about whether the parts answer.
type Readiness interface {
	// Ready says whether the database, the migrations and the object store answer; checks maps each part to "ok" or what is wrong.
	Ready(ctx context.Context) (checks map[string]string, ok bool)
}

// readyTimeout is how long the parts of the server may take to say that they are there: less than probes usually wait.
const readyTimeout = 3 * time.Second

// Health is the state of the server.
type Health struct {
	Status string            `json:"status" enum:"ok,unavailable"`
	Checks map[string]string `json:"checks,omitempty" doc:"Each part that the server needs: ok, or what is wrong with it."`
}

type healthOutput struct {
	Status int
	Body   Health
}

func (s *server) systemOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "livez", Method: http.MethodGet, Path: "/livez", Tag: "system", Summary: "Whether the server runs", Access: rest.Anyone,
	}, func(context.Context, *rest.Call, *rest.Empty) (*healthOutput, error) {
		return &healthOutput{Status: http.StatusOK, Body: Health{Status: healthy}}, nil
	})
	rest.Register(s.Server, rest.Operation{
		ID: "readyz", Method: http.MethodGet, Path: "/readyz", Tag: "system", Summary: "Whether the server can work",
		About: "Answers 503 when the database, the migrations or the object store are not there.", Access: rest.Anyone,
		Answers: map[string]*huma.Response{"503": {
			Description: "Some part is away: see checks.",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: rest.SchemaOf(s.Huma.OpenAPI().Components.Schemas, Health{})}},
		}},
	}, s.readyz)
}

// readyz answers from a look that is a second old at most: anybody may ask, as often as he likes.
func (s *server) readyz(ctx context.Context, _ *rest.Call, _ *rest.Empty) (*healthOutput, error) {
	health := s.health.Get(ctx)
	if health.Status != healthy {
		return &healthOutput{Status: http.StatusServiceUnavailable, Body: Health{Status: "unavailable", Checks: health.Checks}}, nil
	}
	return &healthOutput{Status: http.StatusOK, Body: health}, nil
}

// healthy is the status of a server that can work.
const healthy = "ok"

func newHealth(service Service, keep time.Duration) *rest.Recent[Health] {
	return &rest.Recent[Health]{Keep: keep, Limit: readyTimeout, Look: func(ctx context.Context) Health {
		checks, ok := service.Ready(ctx)
		if !ok {
			return Health{Status: "unavailable", Checks: checks}
		}
		return Health{Status: healthy, Checks: checks}
	}}
}
