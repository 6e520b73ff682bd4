package rest

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/protocol"
)

// The headers that answers carry.
const (
	headerRequestID = "X-Request-Id"
	headerVersion   = "Ostraka-Version"
	// headerSignIn tells the page that there is a provider to sign in at.
	headerSignIn = "Ostraka-Sign-In"
)

// apiPolicy forbids everything to a browser that shows an answer of the API as a page.
const apiPolicy = "default-src 'none'; frame-ancestors 'none'"

// Handler wraps the routes in what every request goes through.
func (s *Server) Handler(mux *http.ServeMux) http.Handler {
	return s.identify(s.account(s.enter(s.route(mux))))
}

// identify gives the request its ID and the answer the headers that all answers have.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := uuid.NewV7()
		if err != nil {
			http.Error(w, "no randomness", http.StatusInternalServerError)
			return
		}
		c := &Call{RequestID: id.String(), Request: r, Writer: w}
		h := w.Header()
		h.Set(headerRequestID, c.RequestID)
		h.Set(headerVersion, s.Version)
		if s.Portal != nil {
			h.Set(headerPortal, s.Portal.Build)
		}
		if s.OIDC {
			h.Set(headerSignIn, "oidc")
		}
		h.Set(protocol.Header, strconv.Itoa(protocol.Current))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", apiPolicy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store") // answers belong to the key that asked
		if r.TLS != nil {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if endsUnclear(r) {
			h.Set("Connection", "close")
		}
		if r.ContentLength == 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a long answer must not look like a client that has gone
		}
		next.ServeHTTP(w, r.WithContext(withCall(r.Context(), c)))
	})
}

// endsUnclear says whether a proxy in front may think that the request ends elsewhere than we do, so that what follows on the connection
// must not be taken for a request: net/http takes a Content-Length away that comes with a chunked body, and HTTP/1.0 knows no chunks.
func endsUnclear(r *http.Request) bool {
	return r.ProtoMajor == 1 && (r.ProtoMinor == 0 || len(r.TransferEncoding) > 0)
}

// account logs and counts the request, and turns a panic into a problem.
func (s *Server) account(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := CallOf(r.Context())
		answer := &answerWriter{ResponseWriter: w}
		began := time.Now()
		defer func() {
			cause := recover()
			whole := cause == nil || !isAbort(cause) && s.panicked(answer, r, cause)
			took := time.Since(began)
			s.Metrics.observe(c.Operation, answer.status(), took)
			s.Log.DebugContext(r.Context(), "request", "request_id", c.RequestID, "method", r.Method, "path", r.URL.Path,
				"operation", c.Operation, "status", answer.status(), "bytes", answer.bytes, "took", took, "role", c.Principal.Role)
			if !whole {
				panic(http.ErrAbortHandler) // the answer is half sent: cut the connection
			}
		}()
		next.ServeHTTP(answer, r)
	})
}

func isAbort(cause any) bool {
	err, ok := cause.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// panicked logs a panic and answers it, where nothing has been sent yet; it says whether it could.
func (s *Server) panicked(w *answerWriter, r *http.Request, cause any) bool {
	c := CallOf(r.Context())
	s.Log.LogAttrs(r.Context(), slog.LevelError, "panic while serving a request", slog.String("request_id", c.RequestID),
		slog.String("operation", c.Operation), slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
	if w.code != 0 {
		return false
	}
	p, _ := ProblemOf(fmt.Errorf("panic: %v", cause))
	p.RequestID = c.RequestID
	writeProblem(w, p)
	return true
}

// answerWriter remembers what was answered.
type answerWriter struct {
	http.ResponseWriter
	code  int
	bytes int64
}

// WriteHeader implements http.ResponseWriter.
func (w *answerWriter) WriteHeader(code int) {
	if w.code == 0 && code >= http.StatusOK {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *answerWriter) Write(b []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController find the connection.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *answerWriter) status() int {
	if w.code == 0 {
		return http.StatusOK
	}
	return w.code
}
