package rest

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
func (s *Server) prepare(op Operation, of *shape) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(hc)
		c := CallOf(r.Context())
		c.Operation, c.Request, c.Writer = op.ID, r, w
		if err := understands(op, r); err != nil {
			s.Refuse(w, r, err)
			return
		}
		if err := s.admit(r.Context(), op, c); err != nil {
			s.Refuse(w, r, err)
			return
		}
		if op.Early != nil {
			if err := op.Early(r.Context(), c); err != nil {
				s.Refuse(w, r, err)
				return
			}
		}
		leave, err := s.mayWait(op, c)
		if err != nil {
			s.Refuse(w, r, err)
			return
		}
		defer leave()
		release, err := s.readBody(op.Body, *of, c)
		if err != nil {
			s.Refuse(w, r, err)
			return
		}
		defer release()
		var problem *Problem
		if c.Idem, problem = idempotencyOf(r, c.Body); problem != nil {
			s.Refuse(w, r, problem)
			return
		}
		next(hc)
	}
}

// Refuse answers a request that does not reach its handler.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	var p *Problem
	errors.As(s.answer(r.Context(), err), &p)
	forgetBody(w, r)
	writeProblem(w, p)
}

// admit authenticates and authorises. The order matters: a key of another project must learn nothing, not even that its role would
// not have been enough.
func (s *Server) admit(ctx context.Context, op Operation, c *Call) error {
	switch {
	case op.Access.enrolled:
		if c.Request.Header.Get("Authorization") == "" {
			return nil
		}
		return bearer(c)
	case op.Access.Roles == nil:
		return nil
	}
	principal, err := s.authenticate(ctx, op, c)
	if err != nil {
		return err
	}
	c.Principal = principal
	if err := s.MayAsk(principal); err != nil {
		return err
	}
	if project := c.Request.PathValue("project"); project != "" && ofProject(principal.Role) && project != principal.Project.String() {
		return functions.NotFound("project", project)
	}
	if !slices.Contains(op.Access.Roles, principal.Role) {
		return NewProblem(http.StatusForbidden, CodeForbidden, fmt.Sprintf("a key of role %s may not do this", principal.Role),
			"use a key of role "+RoleList(op.Access.Roles))
	}
	return s.speaksFor(ctx, c)
}

// authenticate finds out who asks: by their key, by the cookie of a browser that signed in, or, to sign one in, by a link.
func (s *Server) authenticate(ctx context.Context, op Operation, c *Call) (functions.Principal, error) {
	if !op.Access.OpensSession {
		principal, with, err := s.BySession(c.Request)
		if with {
			return principal, err
		}
	}
	if err := bearer(c); err != nil {
		return functions.Principal{}, err
	}
	find := s.ByKey
	if op.Access.OpensSession && tenant.IsSignInLink(c.Token) {
		find = s.service.UseSignInLink
	}
	principal, err := find(ctx, c.Token)
	c.Token = ""
	if err != nil {
		return principal, fmt.Errorf("authenticating: %w", err)
	}
	return principal, nil
}

func ofProject(role functions.Role) bool {
	return role == functions.RoleOwner || role == functions.RoleSubmitter || role == functions.RoleViewer || role == functions.RoleAuditor || role == functions.RoleReviewer
}

// RoleList names roles in a sentence.
func RoleList(roles []functions.Role) string {
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = string(role)
	}
	return strings.Join(names, " or ")
}

// MaxTokenBytes bounds what is hashed and looked up for a bearer token; ours have fewer than a hundred bytes.
const MaxTokenBytes = 512

// bearer takes the token out of the Authorization header.
func bearer(c *Call) error {
	scheme, token, found := strings.Cut(c.Request.Header.Get("Authorization"), " ")
	if !found || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > MaxTokenBytes {
		return NewProblem(http.StatusUnauthorized, CodeUnauthorized, "the request has no key", "send the header Authorization: Bearer <key>")
	}
	c.Token = token
	return nil
}
