package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
)

// SpecVersion is the version of the HTTP contract: the major number stands in every path.
const SpecVersion = "1.0.0"

// The names of the security schemes.
const (
	schemeKey       = "key"
	schemeEnrolment = "enrolmentToken"
	schemeSession   = "session"
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
	Metrics *Metrics

	// SecureCookies has browsers send their cookie over TLS alone, where a proxy in front ends TLS and requests come here without.
	SecureCookies bool

	// Limits are what one client may ask; the zero value: as much as it likes.
	Limits Limits

	// Fresh is for how long /metrics and /readyz keep what they have asked the database, since anybody may ask them. 0: a second.
	Fresh time.Duration

	// Stopping ends when the server begins to stop: requests that wait and streams of events end then, and others are not disturbed.
	// nil: never.
	Stopping context.Context
}

type server struct {
	service  Service
	log      *slog.Logger
	version  string
	stopping context.Context
	mux      *http.ServeMux
	huma     huma.API
	metrics  *Metrics
	doors    *doors
	portal   *portal // nil: none
	maps     *mapCache
	hubs     *hubs
	feeds    *feeds
	health   *recent[Health]
	oidc     bool // people may sign in at a provider
	secure   bool // cookies are for TLS alone, however a request comes here

	crossSite *http.CrossOriginProtection // of requests with a cookie
}

// New returns the handler of everything that the server answers over HTTP.
func New(o Options) (http.Handler, error) {
	all, _, err := newHandlers(o, false)
	return all, err
}

// NewApart returns two handlers: one of everything but /metrics and /ops, and one of these.
func NewApart(o Options) (public, ops http.Handler, err error) { return newHandlers(o, true) }

func newHandlers(o Options, apart bool) (public, ops http.Handler, err error) {
	s := newServer(o.Service, o.Log, o.Version)
	if o.Stopping != nil {
		s.stopping = o.Stopping
	}
	if o.Fresh == 0 {
		o.Fresh = recentFor
	}
	s.health = newHealth(o.Service, o.Fresh)
	s.hubs = newHubs(s.stopping, o.Log, o.Service)
	s.doors, s.secure = newDoors(o.Limits), o.SecureCookies
	if s.metrics = o.Metrics; s.metrics == nil {
		if s.metrics, err = NewMetrics(prometheus.NewRegistry()); err != nil {
			return nil, nil, err
		}
	}
	if err := s.serveDocs(); err != nil {
		return nil, nil, err
	}
	if o.Portal != nil {
		if s.portal, err = newPortal(o.Portal); err != nil {
			return nil, nil, err
		}
		s.mux.HandleFunc("GET /assets/", s.asset)
	}
	s.mux.HandleFunc("GET /{$}", s.portal.root) // where people land who open the server's address
	if o.OIDC != nil {
		s.oidc = true
		(&oidcFlow{server: s, options: *o.OIDC}).serve(s.mux)
	}
	pages := s.mux
	if apart {
		pages = http.NewServeMux()
	}
	pages.Handle("GET /metrics", s.metrics.handler(o.Service, o.Log, o.Fresh))
	if o.OpsHandler != nil {
		pages.Handle("/ops/river/", s.operatorsOnly(o.OpsHandler))
		pages.Handle("GET /ops/river", http.RedirectHandler("/ops/river/", http.StatusPermanentRedirect))
	}
	return s.handler(s.mux), s.handler(pages), nil
}

// newServer declares the operations. It needs no service to do so, which is how the specification is made.
func newServer(service Service, log *slog.Logger, version string) *server {
	s := &server{
		service: service, log: log, version: version, mux: http.NewServeMux(), stopping: context.Background(),
		doors: newDoors(Limits{}), crossSite: http.NewCrossOriginProtection(),
		maps: newMapCache(), feeds: newFeeds(service), health: newHealth(service, recentFor),
	}
	s.huma = humago.New(s.mux, config())
	s.systemOperations()
	s.versionOperations()
	s.projectOperations()
	s.keyOperations()
	s.sessionOperations()
	s.enrolmentTokenOperations()
	s.signingOperations()
	s.functionOperations()
	s.callOperations()
	s.moduleOperations()
	s.moduleRunOperations()
	s.objectOperations()
	s.fileOperations()
	s.uploadOperations()
	s.jobOperations()
	s.aggregationOperations()
	s.shardOperations()
	s.eventOperations()
	s.mapOperations()
	s.projectEventOperations()
	s.ruleOperations()
	s.scheduleOperations()
	s.webhookOperations()
	s.runtimeOperations()
	s.workflowOperations()
	s.flagOperations()
	s.findingOperations()
	s.bulkOperations()
	s.projectAuditOperations()
	s.serverAuditOperations()
	s.receiptOperations()
	s.archiveOperations()
	s.metricsOperations()
	s.chainOperations()
	s.trustOperations()
	s.agentOperations()
	s.sandboxOperations()
	s.killswitchOperations()
	s.statusOperations()
	s.projectGuardianOperations()
	s.serverGuardianOperations()
	s.telemetryOperations()
	s.eulaOperations()
	s.agentProtocol()
	s.directiveOperations()
	s.witnessOperations()
	s.leaseProtocol()
	settle(s.huma.OpenAPI())
	return s
}

func config() huma.Config {
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Ostraka", Version: SpecVersion, Description: description,
				License: &huma.License{Name: "Apache-2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"},
			},
			Tags: tags,
			Components: &huma.Components{
				Schemas: newRegistry(),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					schemeKey:       {Type: "http", Scheme: "bearer", Description: "An API key. What it may do follows from its role; `x-ostraka-roles` of each operation lists the roles that may call it."},
					schemeSession:   {Type: "apiKey", In: "cookie", Name: sessionCookie, Description: "The cookie of a browser that signed in with `createSession`. It is worth what its key is worth; requests that change something must come from the server's own pages."},
					schemeEnrolment: {Type: "http", Scheme: "bearer", Description: "An enrolment token of a project, with which agents join."},
				},
			},
		},
		Formats:       map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{showProblem},
	}
}

// showProblem gives the errors that huma finds by itself the form of all others.
func showProblem(hc huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := problemFromHuma(m)
	p.RequestID = callOf(hc.Context()).requestID
	return p, nil
}

// OpenAPIYAML returns the specification, as openapi.yaml holds it.
func OpenAPIYAML() ([]byte, error) {
	spec := newServer(nil, slog.New(slog.DiscardHandler), "").huma.OpenAPI()
	text, err := spec.YAML()
	if err != nil {
		return nil, fmt.Errorf("writing the OpenAPI specification: %w", err)
	}
	return text, nil
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	for name, values := range p.headers {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client is gone when this fails
}
