package api

import (
	"fmt"
	"net/http"
)

// route sends a request to its operation, and answers with a problem where there is none.
func (s *server) route() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fallback, pattern := s.mux.Handler(r)
		if pattern != "" {
			s.mux.ServeHTTP(w, r)
			return
		}
		if s.portal.page(r) {
			s.portal.serve(w, r, portalIndex)
			return
		}
		p := noRoute(fallback, r)
		p.RequestID = callOf(r.Context()).requestID
		forgetBody(w, r)
		writeProblem(w, p)
	})
}

// noRoute says why a request has no operation: its path is unknown or only its method. The mux knows which methods a path has and
// tells it in the answer that it would give.
func noRoute(fallback http.Handler, r *http.Request) *Problem {
	probe := &headerProbe{header: http.Header{}}
	fallback.ServeHTTP(probe, r)
	if probe.code == http.StatusMethodNotAllowed {
		allow := probe.header.Get("Allow")
		p := newProblem(http.StatusMethodNotAllowed, codeMethodNotAllowed, fmt.Sprintf("%s has no method %s", quoted(r.URL.Path), quoted(r.Method)), "use one of "+allow)
		p.headers = http.Header{"Allow": {allow}}
		return p
	}
	return newProblem(http.StatusNotFound, codeNoSuchRoute, "there is nothing at "+quoted(r.URL.Path), "see /docs for what there is")
}

// headerProbe takes the head of an answer and drops its body.
type headerProbe struct {
	header http.Header
	code   int
}

// Header implements http.ResponseWriter.
func (p *headerProbe) Header() http.Header { return p.header }

// Write implements http.ResponseWriter.
func (p *headerProbe) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader implements http.ResponseWriter.
func (p *headerProbe) WriteHeader(code int) { p.code = code }
