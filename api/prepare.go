package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/tenant"
)

// prepare is what happens to every request of an operation before its handler runs: it finds out who asks, whether they may, and
// reads the body.
func (s *server) prepare(op operation, of *shape) func(huma.Context, func(huma.Context)) {
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
		if op.early != nil {
			if err := op.early(r.Context(), c); err != nil {
				s.refuse(w, r, err)
				return
			}
		}
		leave, err := s.mayWait(op, c)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		defer leave()
		release, err := s.readBody(op.body, *of, c)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		defer release()
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
	forgetBody(w, r)
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
	principal, err := s.authenticate(ctx, op, c)
	if err != nil {
		return err
	}
	c.principal = principal
	if err := s.mayAsk(principal); err != nil {
		return err
	}
	if project := c.request.PathValue("project"); project != "" && ofProject(principal.Role) && project != principal.Project.String() {
		return functions.NotFound("project", project)
	}
	if !slices.Contains(op.access.roles, principal.Role) {
		return newProblem(http.StatusForbidden, codeForbidden, fmt.Sprintf("a key of role %s may not do this", principal.Role),
			"use a key of role "+roleList(op.access.roles))
	}
	return s.speaksFor(ctx, c)
}

// authenticate finds out who asks: by their key, by the cookie of a browser that signed in, or, to sign one in, by a link.
func (s *server) authenticate(ctx context.Context, op operation, c *call) (functions.Principal, error) {
	if !op.access.opensSession {
		principal, with, err := s.bySession(c.request)
		if with {
			return principal, err
		}
	}
	if err := bearer(c); err != nil {
		return functions.Principal{}, err
	}
	find := s.byKey
	if op.access.opensSession && tenant.IsSignInLink(c.token) {
		find = s.service.UseSignInLink
	}
	principal, err := find(ctx, c.token)
	c.token = ""
	if err != nil {
		return principal, fmt.Errorf("authenticating: %w", err)
	}
	return principal, nil
}

func ofProject(role functions.Role) bool {
	return role == functions.RoleOwner || role == functions.RoleSubmitter || role == functions.RoleViewer || role == functions.RoleAuditor || role == functions.RoleReviewer
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
