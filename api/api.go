package api

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ostraka/ostraka/api/fleet"
	"github.com/ostraka/ostraka/api/jobs"
	"github.com/ostraka/ostraka/api/oversight"
	"github.com/ostraka/ostraka/api/registry"
	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/api/tenant"
	"github.com/ostraka/ostraka/api/workflows"
)

// Options are the parts that the API is made of.
type Options struct {
	Service Service
	Log     *slog.Logger
	Version string // of the program; answers carry it in Ostraka-Version

	// OpsHandler serves everything under /ops/river/, behind the operator role; nil: there is nothing.
	OpsHandler http.Handler

	// OIDC is where an organisation's people sign in to the portal; nil: nowhere.
	OIDC *OIDC

	// Portal are the files of the portal, which / and every address that is nothing else show; nil: there is none.
	Portal fs.FS

	// Metrics are what /metrics shows; nil: figures of the API's own.
	Metrics *rest.Metrics

	// SecureCookies has browsers send their cookie over TLS alone, where a proxy in front ends TLS and requests come here without.
	SecureCookies bool

	// Limits are what one client may ask; the zero value: as much as it likes.
	Limits rest.Limits

	// Fresh is for how long /metrics and /readyz keep what they have asked the database, since anybody may ask them. 0: a second.
	Fresh time.Duration

	// Stopping ends when the server begins to stop: requests that wait and streams of events end then, and others are not disturbed.
	// nil: never.
	Stopping context.Context
}

// New returns the handler of everything that the server answers over HTTP.
func New(o Options) (http.Handler, error) {
	all, _, err := newHandlers(o, false)
	return all, err
}

// NewApart returns two handlers: one of everything but /metrics and /ops, and one of these.
func NewApart(o Options) (public, ops http.Handler, err error) { return newHandlers(o, true) }

func newHandlers(o Options, apart bool) (public, ops http.Handler, err error) {
	s := newDeclared(o.Service, o.Log, o.Version)
	if o.Stopping != nil {
		s.Stopping = o.Stopping
	}
	if o.Fresh == 0 {
		o.Fresh = rest.RecentFor
	}
	s.health = newHealth(o.Service, o.Fresh)
	s.hubs = newHubs(s.Stopping, o.Log, o.Service)
	s.Doors, s.Secure = rest.NewDoors(o.Limits), o.SecureCookies
	if s.Metrics = o.Metrics; s.Metrics == nil {
		if s.Metrics, err = rest.NewMetrics(prometheus.NewRegistry()); err != nil {
			return nil, nil, err
		}
	}
	if err := s.serveDocs(); err != nil {
		return nil, nil, err
	}
	if o.Portal != nil {
		if s.Portal, err = rest.NewPortal(o.Portal); err != nil {
			return nil, nil, err
		}
		s.Mux.HandleFunc("GET /assets/", s.Asset)
	}
	s.Mux.HandleFunc("GET /{$}", s.Portal.Root) // where people land who open the server's address
	if o.OIDC != nil {
		s.OIDC = true
		(&oidcFlow{server: s, options: *o.OIDC}).serve(s.Mux)
	}
	pages := s.Mux
	if apart {
		pages = http.NewServeMux()
	}
	pages.Handle("GET /metrics", s.Metrics.Handler(o.Service, o.Log, o.Fresh))
	if o.OpsHandler != nil {
		pages.Handle("/ops/river/", s.operatorsOnly(o.OpsHandler))
		pages.Handle("GET /ops/river", http.RedirectHandler("/ops/river/", http.StatusPermanentRedirect))
	}
	return s.Handler(s.Mux), s.Handler(pages), nil
}

// newDeclared declares the operations. It needs no service to do so, which is how the specification is made.
func newDeclared(service Service, log *slog.Logger, version string) *server {
	s := &server{Server: rest.NewServer(service, log, version), service: service, health: newHealth(service, rest.RecentFor)}
	s.systemOperations()
	s.versionOperations()
	s.projectEventOperations()
	s.statusOperations()
	tenant.Register(s.Server, service)
	registry.Register(s.Server, service)
	jobs.Register(s.Server, service)
	workflows.Register(s.Server, service)
	fleet.Register(s.Server, service)
	oversight.Register(s.Server, service)
	rest.Settle(s.Huma.OpenAPI())
	return s
}

// OpenAPIYAML returns the specification, as openapi.yaml holds it.
func OpenAPIYAML() ([]byte, error) {
	spec := newDeclared(nil, slog.New(slog.DiscardHandler), "").Huma.OpenAPI()
	text, err := spec.YAML()
	if err != nil {
		return nil, fmt.Errorf("writing the OpenAPI specification: %w", err)
	}
	return text, nil
}
