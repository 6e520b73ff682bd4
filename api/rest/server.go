// Package rest is what all operations of the API share: how one is declared, what every request goes through before its handler runs, and the
// shapes that requests and answers have in common.
//
// A request passes, in this order: its ID and the headers of every answer (handler.go), the doors that count addresses (doors.go), the route
// (route.go), then for each operation the same steps (prepare.go): who asks, whether they may, how large the body may be, whether it is the
// request of before. Errors become problems in one place (problem.go), and each code is explained (explain.go).
//
// It knows no subject. What only one package of operations needs belongs there; what two need belongs here.
package rest

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// SpecVersion is the version of the HTTP contract: the major number stands in every path.
const SpecVersion = "1.0.0"

// The names of the security schemes.
const (
	SchemeKey       = "key"
	SchemeEnrolment = "enrolmentToken"
	SchemeSession   = "session"
)

// Service is what package rest itself asks of the domain: who a request comes from.
type Service interface {
	Identities
	Instances
}

// Server is what all operations share. Each package of operations embeds it in a server of its own, beside what it asks of the domain.
type Server struct {
	service  Service
	Log      *slog.Logger
	Version  string
	Stopping context.Context
	Mux      *http.ServeMux
	Huma     huma.API
	Metrics  *Metrics
	Doors    *Doors
	Portal   *Portal // nil: none
	OIDC     bool    // people may sign in at a provider
	Secure   bool    // cookies are for TLS alone, however a request comes here

	crossSite *http.CrossOriginProtection // of requests with a cookie
}

// NewServer makes a server without operations.
func NewServer(service Service, log *slog.Logger, version string) *Server {
	s := &Server{
		service: service, Log: log, Version: version, Mux: http.NewServeMux(), Stopping: context.Background(),
		Doors: NewDoors(Limits{}), crossSite: http.NewCrossOriginProtection(),
	}
	s.Huma = humago.New(s.Mux, config())
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
					SchemeKey:       {Type: "http", Scheme: "bearer", Description: "An API key. What it may do follows from its role; `x-ostraka-roles` of each operation lists the roles that may call it."},
					SchemeSession:   {Type: "apiKey", In: "cookie", Name: sessionCookie, Description: "The cookie of a browser that signed in with `createSession`. It is worth what its key is worth; requests that change something must come from the server's own pages."},
					SchemeEnrolment: {Type: "http", Scheme: "bearer", Description: "An enrolment token of a project, with which agents join."},
				},
			},
		},
		Formats:       map[string]huma.Format{"application/json": JSONFormat, "json": JSONFormat},
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
	p.RequestID = CallOf(hc.Context()).RequestID
	return p, nil
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	for name, values := range p.headers {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client is gone when this fails
}
