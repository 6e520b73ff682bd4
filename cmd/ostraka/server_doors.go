//go:build linux

package main

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"golang.org/x/crypto/acme/autocert"

	"github.com/ostraka/ostraka/api/limit"
	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/runtime/statement"
)

// The connections that a server holds: each costs some tens of KiB and a descriptor.
const (
	defaultConnections     = 16384
	defaultConnectionsEach = 1024 // of one address: a laboratory's machines behind one router
)

// doorConfig is how requests come to the server: TLS, proxies, and how much one client may ask.
type doorConfig struct {
	cert, key   string
	acmeHosts   []string
	acmeDir     string
	acmeMail    string
	behindProxy bool
	trusted     []string
	connections limit.Connections
	limits      rest.Limits
	opsListen   string
	names       []string // URLs that agents know the server by
	perAddress  float64
	perKey      float64
}

func (c *doorConfig) register(f *pflag.FlagSet) {
	usual := rest.DefaultLimits()
	f.StringVar(&c.cert, "tls-cert", "", "file with the certificate and its chain, as PEM; read again when it changes")
	f.StringVar(&c.key, "tls-key", "", "file with the certificate's key, as PEM")
	f.StringSliceVar(&c.acmeHosts, "acme-host", nil, "host name to get certificates for from Let's Encrypt (may be repeated); the server must be reachable there on port 443. Using it accepts its terms")
	f.StringVar(&c.acmeDir, "acme-dir", "", "folder in which those certificates are kept; left out: one in the user's cache")
	f.StringVar(&c.acmeMail, "acme-mail", "", "address that Let's Encrypt writes to when something is wrong with a certificate")
	f.BoolVar(&c.behindProxy, "behind-proxy", false, "a proxy in front ends TLS: serve plain HTTP on an address that others can reach")
	f.StringSliceVar(&c.trusted, "trusted-proxy", nil, "network of proxies whose X-Forwarded-For is believed, for example 10.0.0.0/8 (may be repeated)")
	f.IntVar(&c.connections.All, "connections", defaultConnections, "how many connections may be open at a time")
	f.IntVar(&c.connections.Each, "connections-per-address", defaultConnectionsEach, "how many of them from one address")
	f.Float64Var(&c.perAddress, "requests-per-address", usual.PerAddress.PerSecond, "requests a second from one address, ten times as many at once; 0: no limit. This machine's own addresses have none")
	f.Float64Var(&c.perKey, "requests-per-key", usual.PerKey.PerSecond, "requests a second with one key, ten times as many at once; 0: no limit")
	f.StringSliceVar(&c.names, "agent-url", nil, "URL by which agents know this server (may be repeated): enrolments that were made for another one are refused; left out: any")
	f.StringVar(&c.opsListen, "metrics-listen", "", "address of its own for /metrics and /ops, which are then nowhere else; plain HTTP")
}

func (c *doorConfig) complete(listen string) error {
	if (c.cert == "") != (c.key == "") {
		return usageError("--tls-cert and --tls-key belong together: give both")
	}
	if c.cert != "" && len(c.acmeHosts) > 0 {
		return usageError("where does the certificate come from? give --tls-cert or --acme-host, not both")
	}
	if len(c.acmeHosts) == 0 && (c.acmeDir != "" || c.acmeMail != "") {
		return usageError("--acme-dir and --acme-mail are for --acme-host: give it")
	}
	if c.connections.All < 1 || c.connections.Each < 1 {
		return usageError("--connections and --connections-per-address count from 1")
	}
	if c.perAddress < 0 || c.perKey < 0 {
		return usageError("--requests-per-address and --requests-per-key count from 0, which is no limit")
	}
	c.limits.PerAddress = limit.PerSecond(c.perAddress)
	c.limits.Enrolments = rest.DefaultLimits().Enrolments
	c.limits.PerKey = limit.PerSecond(c.perKey)
	for _, name := range c.names {
		if statement.Origin(name) == "" {
			return usageError("--agent-url %q is no URL: write for example https://ostraka.example", name)
		}
	}
	for _, text := range c.trusted {
		network, err := parseNetwork(text)
		if err != nil {
			return usageError("--trusted-proxy %q is no network: write for example 10.0.0.0/8 or 192.0.2.7", text)
		}
		c.limits.Proxies = append(c.limits.Proxies, network)
	}
	if err := c.completeACME(); err != nil {
		return err
	}
	return c.completePlain(listen)
}

// completePlain refuses to serve keys and functions in clear text to others.
func (c *doorConfig) completePlain(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return usageError("--listen %q is not an address: write HOST:PORT, for example %s", listen, defaultListen)
	}
	if loopbackHost(host) || c.behindProxy || c.tls() {
		return nil
	}
	return &exitError{
		code: exitUsage, err: fmt.Errorf("--listen %s can be reached from outside, and keys and functions would pass in clear text", listen),
		hint: "give --tls-cert and --tls-key, or --acme-host; or --behind-proxy where a proxy in front ends TLS",
	}
}

func (c *doorConfig) completeACME() error {
	if len(c.acmeHosts) == 0 || c.acmeDir != "" {
		return nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return usageError("there is no folder for certificates (%v): give one with --acme-dir", err)
	}
	c.acmeDir = filepath.Join(cache, "ostraka", "certificates")
	return nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

func (c *doorConfig) tls() bool { return c.cert != "" || len(c.acmeHosts) > 0 }

// scheme is that of the server's own URL.
func (c *doorConfig) scheme() string {
	if c.tls() {
		return "https"
	}
	return "http"
}

// tlsConfig is nil where the server speaks plain HTTP. HTTP/2 comes with TLS.
func (c *doorConfig) tlsConfig() (*tls.Config, error) {
	switch {
	case c.cert != "":
		pair := &keyPair{cert: c.cert, key: c.key}
		if _, err := pair.get(nil); err != nil {
			return nil, &exitError{code: exitUsage, err: err, hint: "give the certificate with its chain as --tls-cert and its key as --tls-key, both as PEM"}
		}
		return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: pair.get}, nil
	case len(c.acmeHosts) > 0:
		manager := &autocert.Manager{
			Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(c.acmeDir), HostPolicy: autocert.HostWhitelist(c.acmeHosts...), Email: c.acmeMail,
		}
		config := manager.TLSConfig()
		config.MinVersion = tls.VersionTLS12
		return config, nil
	}
	return nil, nil
}

// quotas are the limits of projects without values of their own, with those that are flags for themselves.
func (c serverConfig) quotas() map[functions.QuotaName]int64 {
	all := map[functions.QuotaName]int64{functions.QuotaRequests: int64(c.Doors.limits.PerKey.PerSecond)}
	maps.Copy(all, c.Quotas)
	return all
}

// limits are what one client may ask of this server.
func (c serverConfig) limits() rest.Limits {
	l := c.Doors.limits
	l.Polls, l.Streams = tenant.DefaultPolls, tenant.DefaultStreams
	for name, to := range map[functions.QuotaName]*int64{functions.QuotaPolls: &l.Polls, functions.QuotaStreams: &l.Streams} {
		if value, set := c.Quotas[name]; set {
			*to = value
		}
	}
	if value, set := c.Quotas[functions.QuotaRequests]; set {
		l.PerKey = limit.PerSecond(float64(value))
	}
	return l
}

// guard bounds the connections of a listener.
func (c *doorConfig) guard(l net.Listener) net.Listener {
	if c.connections == (limit.Connections{}) {
		return l
	}
	return limit.Listener(l, c.connections, c.limits.Proxies)
}
