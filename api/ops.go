package api

import (
	"net/http"
	"strings"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
)

// opsPolicy is what the pages of the River UI need: scripts of their own and inline styles.
const opsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// operatorsOnly lets only operators through to pages that have no authentication of their own. Browsers send a password with every
// request once they have it, even with those that another site makes them send, so that such requests are refused.
func (s *server) operatorsOnly(next http.Handler) http.Handler {
	crossSite := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := rest.CallOf(r.Context())
		c.Operation = "ops"
		if err := crossSite.Check(r); err != nil {
			s.Refuse(w, r, rest.NewProblem(http.StatusForbidden, rest.CodeCrossSite, "another site made your browser send this request", "open the page of the operators itself"))
			return
		}
		if err := s.admitOperator(r, c); err != nil {
			s.Refuse(w, r, err)
			return
		}
		r = r.Clone(r.Context())
		r.Header.Del("Authorization") // the key is none of the pages' business
		r.Header.Del("Cookie")
		w.Header().Set("Content-Security-Policy", opsPolicy)
		next.ServeHTTP(w, r)
	})
}

func (s *server) admitOperator(r *http.Request, c *rest.Call) error {
	principal, with, err := s.BySession(r)
	if with && err == nil && principal.Role == functions.RoleOperator {
		c.Principal = principal
		return nil
	}
	key, given := operatorKey(r)
	if !given {
		return askPassword(rest.NewProblem(http.StatusUnauthorized, rest.CodeUnauthorized, "the request has no key",
			"give an operator's key as the password (any user name), or send Authorization: Bearer <key>"))
	}
	if principal, err = s.ByKey(r.Context(), key); err != nil {
		if p, known := rest.ProblemOf(err); known && p.Status == http.StatusUnauthorized {
			return askPassword(p)
		}
		return err
	}
	c.Principal = principal
	if err := s.MayAsk(principal); err != nil {
		return err
	}
	if principal.Role != functions.RoleOperator {
		return askPassword(rest.NewProblem(http.StatusForbidden, rest.CodeForbidden, "a key of role "+string(principal.Role)+" may not do this", "use a key of role operator"))
	}
	return nil
}

// operatorKey is the bearer token, or the password that a browser sends.
func operatorKey(r *http.Request) (key string, given bool) {
	if _, password, basic := r.BasicAuth(); basic {
		return password, password != "" && len(password) <= rest.MaxTokenBytes
	}
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	return token, found && strings.EqualFold(scheme, "Bearer") && token != "" && len(token) <= rest.MaxTokenBytes
}

// askPassword makes a browser ask for another password.
func askPassword(p *rest.Problem) *rest.Problem {
	if p.Status == http.StatusUnauthorized {
		return p.With("Www-Authenticate", `Basic realm="Ostraka operators", charset="UTF-8"`)
	}
	return p
}
