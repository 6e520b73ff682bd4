//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/functions"
)

func TestWhatGroupsMayDo(t *testing.T) {
	project := uuid.MustParse("0190a5d4-0000-7000-8000-000000000001")
	for text, want := range map[string]api.OIDCGrant{
		"admins=operator":                       {Group: "admins", Role: functions.RoleOperator},
		"lab=owner:" + project.String():         {Group: "lab", Role: functions.RoleOwner, Project: project},
		"cn=lab,o=x=viewer:" + project.String(): {Group: "cn=lab,o=x", Role: functions.RoleViewer, Project: project},
	} {
		got, err := parseGrant(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "admins", "=operator", "a=operator:" + project.String(), "a=owner", "a=owner:x", "a=agent", "a=king"} {
		_, err := parseGrant(text)
		require.Equal(t, exitUsage, exitCode(err), text)
	}
}

func TestAProviderIsNamedWhole(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("from the file\n"), 0o600))
	term := &terminal{env: func(name string) string {
		return map[string]string{"OSTRAKA_OIDC_CLIENT_SECRET": "from the environment"}[name]
	}}
	good := func(change func(*oidcConfig)) *oidcConfig {
		c := &oidcConfig{options: api.OIDC{Issuer: "https://id.example", ClientID: "ostraka", PublicURL: "http://localhost:8470"}, grants: []string{"admins=operator"}}
		change(c)
		return c
	}
	o, err := good(func(*oidcConfig) {}).complete(term)
	require.NoError(t, err)
	require.Equal(t, "from the environment", o.ClientSecret)
	o, err = good(func(c *oidcConfig) { c.secretFile = secret }).complete(term)
	require.NoError(t, err)
	require.Equal(t, "from the file", o.ClientSecret)
	o, err = new(oidcConfig).complete(term)
	require.NoError(t, err)
	require.Nil(t, o)
	for name, change := range map[string]func(*oidcConfig){
		"no issuer": func(c *oidcConfig) { c.options.Issuer = "" }, "no client": func(c *oidcConfig) { c.options.ClientID = "" },
		"no grant": func(c *oidcConfig) { c.grants = nil }, "no TLS": func(c *oidcConfig) { c.options.Issuer = "http://id.example" },
		"no address": func(c *oidcConfig) { c.options.PublicURL = "" }, "no role": func(c *oidcConfig) { c.grants = []string{"a=b"} },
		"no file": func(c *oidcConfig) { c.secretFile += "x" },
	} {
		_, err := good(change).complete(term)
		require.Equal(t, exitUsage, exitCode(err), name)
	}
}
