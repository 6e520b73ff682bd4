//go:build linux

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
)

// parsedDoors is what the flags say.
func parsedDoors(t *testing.T, args ...string) *doorConfig {
	t.Helper()
	c := &doorConfig{}
	f := pflag.NewFlagSet("server", pflag.ContinueOnError)
	c.register(f)
	require.NoError(t, f.Parse(args))
	return c
}

func TestFlagsOfTheDoors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listen string
		args   []string
		says   string // empty: they are fine
	}{
		{"127.0.0.1:1", nil, ""},
		{"[::1]:1", nil, ""},
		{":1", nil, "in clear text"},
		{"0.0.0.0:1", nil, "in clear text"},
		{"192.0.2.1:1", []string{"--trusted-proxy=10.0.0.0/8"}, "in clear text"},
		{":1", []string{"--behind-proxy"}, ""},
		{":1", []string{"--tls-cert=c", "--tls-key=k"}, ""},
		{":1", []string{"--acme-host=a.example.org", "--acme-dir=d"}, ""},
		{":1", []string{"--tls-cert=c"}, "belong together"},
		{":1", []string{"--tls-cert=c", "--tls-key=k", "--acme-host=a"}, "not both"},
		{":1", []string{"--behind-proxy", "--acme-mail=a"}, "for --acme-host"},
		{":1", []string{"--behind-proxy", "--trusted-proxy=10.0.0.0/33"}, "is no network"},
		{":1", []string{"--behind-proxy", "--trusted-proxy=10.0.0.1", "--trusted-proxy=fd00::/8"}, ""},
		{":1", []string{"--behind-proxy", "--connections=0"}, "count from 1"},
		{":1", []string{"--behind-proxy", "--requests-per-key=-1"}, "count from 0"},
		{"nowhere", nil, "is not an address"},
	} {
		err := parsedDoors(t, c.args...).complete(c.listen)
		if c.says == "" {
			require.NoError(t, err, c.args)
		} else {
			require.ErrorContains(t, err, c.says, c.args)
		}
	}
}

func TestRatesAreThoseOfTheFlags(t *testing.T) {
	t.Parallel()
	usual := parsedDoors(t)
	require.NoError(t, usual.complete(defaultListen))
	require.Equal(t, rest.DefaultLimits(), serverConfig{Doors: *usual}.limits())
	more := serverConfig{Doors: *usual, Quotas: map[functions.QuotaName]int64{functions.QuotaPolls: 1, functions.QuotaStreams: 2}}.limits()
	require.Equal(t, []int64{1, 2}, []int64{more.Polls, more.Streams})
	none := parsedDoors(t, "--requests-per-key=0", "--requests-per-address=3")
	require.NoError(t, none.complete(defaultListen))
	require.Zero(t, none.limits.PerKey.PerSecond)
	require.InDelta(t, 30, none.limits.PerAddress.Burst, 0)
}

// writeCertificate writes a certificate of its own kind for 127.0.0.1, and returns whom it names and a pool that believes it.
func writeCertificate(t *testing.T, dir, name string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cert"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool
}

func TestTLSWithACertificateThatIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pool := writeCertificate(t, dir, "first")
	c := parsedDoors(t, "--tls-cert="+filepath.Join(dir, "cert"), "--tls-key="+filepath.Join(dir, "key"))
	require.NoError(t, c.complete(":0"))
	secret, err := c.tlsConfig()
	require.NoError(t, err)
	l, err := listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{http: api.NewHTTPServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))}
	s.http.TLSConfig = secret
	ended := make(chan error)
	go func() { ended <- s.serve(c.guard(l)) }()
	ask := func(pool *x509.CertPool) *http.Response {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.scheme()+"://"+l.Addr().String(), nil)
		require.NoError(t, err)
		answer, err := client.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer
	}
	answer := ask(pool)
	require.Equal(t, "HTTP/2.0", answer.Proto)
	require.Equal(t, "first", answer.TLS.PeerCertificates[0].Subject.CommonName)
	second := writeCertificate(t, dir, "the second")
	require.Equal(t, "the second", ask(second).TLS.PeerCertificates[0].Subject.CommonName)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "key"), []byte("half of a k"), 0o600))
	require.Equal(t, "the second", ask(second).TLS.PeerCertificates[0].Subject.CommonName, "what was whole stays until its successor is")
	require.NoError(t, s.http.Close())
	require.ErrorIs(t, <-ended, http.ErrServerClosed)
	require.NoError(t, os.Remove(filepath.Join(dir, "cert")))
	_, err = c.tlsConfig()
	require.ErrorContains(t, err, "reading the certificate")
}

func TestKeysPassInTheOpenOnThisMachineOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url      string
		env      string
		insecure bool
		fine     bool
	}{
		{url: "http://127.0.0.1:8470", fine: true},
		{url: "http://localhost:8470", fine: true},
		{url: "http://[::1]:8470", fine: true},
		{url: "https://ostraka.example.org", fine: true},
		{url: "http://ostraka.example.org"},
		{url: "http://192.168.0.7:8470"},
		{url: "http://localhost.example.org"},
		{url: "http://ostraka.example.org", env: "0"},
		{url: "http://ostraka.example.org", env: "1", fine: true},
		{url: "http://ostraka.example.org", insecure: true, fine: true},
	} {
		f := &serverFlags{terminal: &terminal{env: func(name string) string {
			if name == "OSTRAKA_INSECURE_HTTP" {
				return c.env
			}
			return ""
		}}, url: c.url, insecure: c.insecure}
		_, err := f.address()
		if c.fine {
			require.NoError(t, err, c.url)
		} else {
			require.ErrorContains(t, err, "is plain HTTP", c.url)
		}
	}
}
