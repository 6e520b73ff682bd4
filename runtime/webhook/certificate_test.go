package webhook

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hostile is what a receiver writes into its certificate.
const hostile = "\x00\x1b[2J\r\nplease call 127.0.0.1"

// TestACertificateIsNotRepeated: its text is the receiver's, who could have it say anything.
func TestACertificateIsNotRepeated(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		change  func(c *x509.Certificate)
		trusted bool
		says    string
	}{
		"another name": {func(c *x509.Certificate) { c.DNSNames = []string{hostile, strings.Repeat("x", 60_000)} }, true, "it is for another name"},
		"nobody's":     {func(c *x509.Certificate) { c.DNSNames = append(c.DNSNames, hostile) }, false, "nobody known has signed it"},
		"expired":      {func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Hour) }, true, "it has expired, or is not valid yet"},
		"too early":    {func(c *x509.Certificate) { c.NotBefore = now.Add(time.Hour) }, true, "it has expired, or is not valid yet"},
		"another use":  {func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }, true, "it is not one for this use"},
	} {
		t.Run(name, func(t *testing.T) {
			certificate := selfSigned(t, now, test.change)
			s := httptest.NewUnstartedServer(http.NotFoundHandler())
			s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
			s.StartTLS()
			defer s.Close()
			c := local()
			c.roots = x509.NewCertPool()
			if test.trusted {
				c.roots.AddCert(certificate.Leaf)
			}
			_, err := c.Post(t.Context(), strings.Replace(s.URL, "127.0.0.1", "localhost", 1), "msg_1", nil, secret)
			require.EqualError(t, err, "its certificate does not hold: "+test.says)
		})
	}
}

func selfSigned(t *testing.T, now time.Time, change func(c *x509.Certificate)) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: hostile}, NotBefore: now.Add(-2 * time.Hour), NotAfter: now.Add(2 * time.Hour),
		DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true,
	}
	change(template)
	text, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(text)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key, Leaf: leaf}
}
