//go:build linux

package main

import (
	"errors"
	"net/url"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/functions"
)

// oidcClientVariable names the secret of the client at the OpenID provider.
const oidcClientVariable = "OSTRAKA_OIDC_CLIENT_SECRET"

// oidcConfig says where an organisation's people sign in to the portal.
type oidcConfig struct {
	options    api.OIDC
	secretFile string
	grants     []string
}

func (c *oidcConfig) register(f *pflag.FlagSet) {
	f.StringVar(&c.options.Issuer, "oidc-issuer", "", "OpenID provider where people sign in to the portal, besides keys")
	f.StringVar(&c.options.ClientID, "oidc-client-id", "", "this server's client ID there")
	f.StringVar(&c.secretFile, "oidc-client-secret-file", "", "file that holds the client's secret (or OSTRAKA_OIDC_CLIENT_SECRET)")
	f.StringVar(&c.options.PublicURL, "public-url", "", "this server's address as browsers know it; the provider sends them back to /v1/session/oidc/callback there")
	f.StringVar(&c.options.GroupsClaim, "oidc-groups-claim", "groups", "the claim that lists somebody's groups")
	f.StringArrayVar(&c.grants, "oidc-grant", nil, "what a group may do: GROUP=operator, or GROUP=owner:PROJECT (submitter, viewer); the first that fits counts")
}

// complete returns nil where there is no provider.
func (c *oidcConfig) complete(t *terminal) (*api.OIDC, error) {
	o := &c.options
	if o.Issuer == "" {
		if o.ClientID != "" || len(c.grants) > 0 {
			return nil, usageError("--oidc-client-id and --oidc-grant say nothing without --oidc-issuer")
		}
		return nil, nil //nolint:nilnil // there is none
	}
	for flag, text := range map[string]string{"--oidc-issuer": o.Issuer, "--public-url": o.PublicURL} {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopbackName(u.Hostname())) {
			return nil, usageError("%s %q is no https address: what it carries signs people in", flag, text)
		}
	}
	if o.ClientID == "" || len(c.grants) == 0 {
		return nil, usageError("--oidc-issuer needs --oidc-client-id, and a role for at least one group: --oidc-grant admins=operator")
	}
	o.ClientSecret = t.env(oidcClientVariable)
	if c.secretFile != "" {
		text, err := os.ReadFile(c.secretFile)
		if err != nil {
			return nil, &exitError{code: exitUsage, err: errors.Join(errors.New("reading the secret of the OpenID client"), err), hint: "name a file that this user can read"}
		}
		o.ClientSecret = strings.TrimSpace(string(text))
	}
	for _, text := range c.grants {
		g, err := parseGrant(text)
		if err != nil {
			return nil, err
		}
		o.Grants = append(o.Grants, g)
	}
	return o, nil
}

// parseGrant reads GROUP=ROLE or GROUP=ROLE:PROJECT. A group may have = in its name: the last one counts.
func parseGrant(text string) (g api.OIDCGrant, err error) {
	at := strings.LastIndexByte(text, '=')
	if at < 1 {
		return g, usageError("--oidc-grant %q: write GROUP=operator, or GROUP=owner:PROJECT", text)
	}
	role, project, bound := strings.Cut(text[at+1:], ":")
	g = api.OIDCGrant{Group: text[:at], Role: functions.Role(role)}
	switch g.Role {
	case functions.RoleOperator:
		if bound {
			return g, usageError("--oidc-grant %q: operators are of no project", text)
		}
		return g, nil
	case functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer:
		if g.Project, err = uuid.Parse(project); err != nil {
			return g, usageError("--oidc-grant %q: write the project's ID behind the role, as in %s=%s:0190a5d4-…", text, g.Group, role)
		}
		return g, nil
	default:
		return g, usageError("--oidc-grant %q: %q is no role; there are operator, owner, submitter and viewer", text, role)
	}
}

func loopbackName(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}
