package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ostraka/ostraka/functions"
)

// prepare is what happens to every request of an operation before its handler runs: it finds out who asks, whether they may, and
// reads the body.
func (s *server) prepare(op operation) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(hc)
		c := callOf(r.Context())
		c.operation, c.request, c.writer = op.id, r, w
		if err := understands(op, r); err != nil {
			s.refuse(w, r, err)
			return
		}
		if err := s.admit(r.Context(), op, c); err != nil {
			s.refuse(w, r, err)
			return
		}
		if err := readBody(op.body, c); err != nil {
			s.refuse(w, r, err)
			return
		}
		var problem *Problem
		if c.idem, problem = idempotencyOf(r, c.body); problem != nil {
			s.refuse(w, r, problem)
			return
		}
		next(hc)
	}
}

// refuse answers a request that does not reach its handler.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var p *Problem
	errors.As(s.answer(r.Context(), err), &p)
	writeProblem(w, p)
}

// admit authenticates and authorises. The order matters: a key of another project must learn nothing, not even that its role would
// not have been enough.
func (s *server) admit(ctx context.Context, op operation, c *call) error {
	switch {
	case op.access.enrolled:
		if c.request.Header.Get("Authorization") == "" {
			return nil
		}
		return bearer(c)
	case op.access.roles == nil:
		return nil
	}
	if err := bearer(c); err != nil {
		return err
	}
	principal, err := s.service.Authenticate(ctx, c.token)
	c.token = ""
	if err != nil {
		return fmt.Errorf("authenticating: %w", err)
	}
	c.principal = principal
	if project := c.request.PathValue("project"); project != "" && ofProject(principal.Role) && project != principal.Project.String() {
		return functions.NotFound("project", project)
	}
	if !slices.Contains(op.access.roles, principal.Role) {
		return newProblem(http.StatusForbidden, codeForbidden, fmt.Sprintf("a key of role %s may not do this", principal.Role),
			"use a key of role "+roleList(op.access.roles))
	}
	return s.speaksFor(ctx, c)
}

func ofProject(role functions.Role) bool {
	return role == functions.RoleOwner || role == functions.RoleSubmitter || role == functions.RoleViewer
}

func roleList(roles []functions.Role) string {
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = string(role)
	}
	return strings.Join(names, " or ")
}

// maxTokenBytes bounds what is hashed and looked up for a bearer token; ours have fewer than a hundred bytes.
const maxTokenBytes = 512

// bearer takes the token out of the Authorization header.
func bearer(c *call) error {
	scheme, token, found := strings.Cut(c.request.Header.Get("Authorization"), " ")
	if !found || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxTokenBytes {
		return newProblem(http.StatusUnauthorized, codeUnauthorized, "the request has no key", "send the header Authorization: Bearer <key>")
	}
	c.token = token
	return nil
}

// bodyReadTimeout is how long a JSON body may take to arrive: the largest takes three seconds on a line of 10 Mbit/s.
const bodyReadTimeout = 30 * time.Second

// readBody reads and checks a JSON body, or bounds one that the handler reads as a stream.
func readBody(rule body, c *call) error {
	r := c.request
	if rule.limit == 0 {
		return nil
	}
	control := http.NewResponseController(c.writer)
	if rule.stream != "" {
		_ = control.SetReadDeadline(time.Time{}) // a large body on a slow line; streamBody bounds each read
		r.Body = &streamBody{body: http.MaxBytesReader(c.writer, r.Body, rule.limit), control: control}
		return nil
	}
	if r.ContentLength > rule.limit {
		return bodyTooLarge(rule.limit)
	}
	_ = control.SetReadDeadline(time.Now().Add(bodyReadTimeout))
	var buffer bytes.Buffer
	if r.ContentLength > 0 {
		buffer.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	if _, err := buffer.ReadFrom(http.MaxBytesReader(c.writer, r.Body, rule.limit)); err != nil {
		return bodyProblem(err, rule.limit)
	}
	_ = control.SetReadDeadline(time.Time{})
	c.body = buffer.Bytes()
	if rule.optional && len(c.body) == 0 {
		r.Body = http.NoBody
		return nil
	}
	if err := checkBody(rule, c.body); err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(c.body))
	return nil
}

func bodyProblem(err error, limit int64) *Problem {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return bodyTooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return newProblem(http.StatusRequestTimeout, codeBodyUnreadable, "the body did not arrive in time", "send it again, or send less at once")
	default:
		return newProblem(http.StatusBadRequest, codeBodyUnreadable, "the body could not be read to its end", "send it again, with a Content-Length or chunked as HTTP asks")
	}
}

// streamIdleTimeout is how long a streamed body may pause.
const streamIdleTimeout = 30 * time.Second

// storeTimeout is how long storing a body may take after its last byte has come.
const storeTimeout = 2 * time.Minute

// streamBody moves the deadlines with each read: a stream may be long but not idle. After the last byte no read deadline may stay, or
// the server would take its passing for a client that has gone, and give the request up.
type streamBody struct {
	body    io.ReadCloser
	control *http.ResponseController
}

// Read implements io.Reader.
func (b *streamBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(streamIdleTimeout))
	_ = b.control.SetWriteDeadline(time.Now().Add(storeTimeout))
	n, err := b.body.Read(p)
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Close implements io.Closer.
func (b *streamBody) Close() error { return b.body.Close() }
