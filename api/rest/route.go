package rest

import (
	"fmt"
	"net/http"
	"strings"
)

// route sends a request to its operation, and answers with a problem where there is none.
func (s *Server) route(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := oddPath(r); p != nil {
			s.Refuse(w, r, p)
			return
		}
		fallback, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		if mux == s.Mux && s.Portal.page(r) {
			s.Portal.serve(w, r, portalIndex)
			return
		}
		p := noRoute(fallback, r)
		p.RequestID = CallOf(r.Context()).RequestID
		forgetBody(w, r)
		writeProblem(w, p)
	})
}

// oddPath refuses a path with empty parts, "." or "..". The mux would send the client to another path, which is not what it asked for:
// mostly a variable in somebody's script is not set.
func oddPath(r *http.Request) *Problem {
	for _, part := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/"), "/") {
		if (part == "" && r.URL.Path != "/") || part == "." || part == ".." {
			return NewProblem(http.StatusNotFound, CodeNoSuchRoute, "the path "+Quoted(r.URL.Path)+" has an empty part, or . or ..", "fill in what is missing; see /docs for what there is")
		}
	}
	return nil
}

// noRoute says why a request has no operation: its path is unknown or only its method. The mux knows which methods a path has and
// tells it in the answer that it would give.
func noRoute(fallback http.Handler, r *http.Request) *Problem {
	probe := &headerProbe{header: http.Header{}}
	fallback.ServeHTTP(probe, r)
	if probe.code == http.StatusMethodNotAllowed {
		allow := probe.header.Get("Allow")
		p := NewProblem(http.StatusMethodNotAllowed, CodeMethodNotAllowed, fmt.Sprintf("%s has no method %s", Quoted(r.URL.Path), Quoted(r.Method)), "use one of "+allow)
		p.headers = http.Header{"Allow": {allow}}
		return p
	}
	return NewProblem(http.StatusNotFound, CodeNoSuchRoute, "there is nothing at "+Quoted(r.URL.Path), "see /docs for what there is")
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
