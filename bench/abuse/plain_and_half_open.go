package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ostraka/ostraka/bench/rig"
)

const (
	// elsewhere is an address of no machine: whoever wants to speak to it fails, at once or after a while.
	elsewhere = "203.0.113.1:8470"
	// startsWithin bounds how long the program may take to refuse something.
	startsWithin = 30 * time.Second
	// clientHello is how a TLS client begins; the rest of it never comes.
	clientHello = "\x16\x03\x01\x02\x00\x01\x00"
)

// plainAndHalfOpen has the program serve and send keys in clear text, which it refuses, and then opens connections to a server with TLS that
// never end their handshakes.
func plainAndHalfOpen(ctx context.Context, s *scene) ([]figure, error) {
	for _, c := range []struct {
		env  []string
		args []string
		says string
	}{
		{[]string{"OSTRAKA_DATABASE_URL=" + s.server.DatabaseURL}, []string{"server", "--listen", elsewhere, "--blob-dir", filepath.Join(s.rig.Dir, "objects")}, "clear text"},
		{[]string{"OSTRAKA_URL=http://" + elsewhere, "OSTRAKA_KEY=" + s.victim.OwnerKey, "OSTRAKA_PROJECT=" + s.victim.ID.String()}, []string{"job", "list"}, "plain HTTP"},
		{[]string{"OSTRAKA_TOKEN=made-up"}, []string{"agent", "start", "--url", "http://" + elsewhere, "--data", filepath.Join(s.rig.Dir, "agent")}, "plain HTTP"},
	} {
		if err := s.refuses(ctx, append(c.env, "HOME="+s.rig.Dir), c.says, c.args...); err != nil {
			return nil, err
		}
	}
	secure, web, err := s.serveTLS(ctx)
	if err != nil {
		return nil, err
	}
	defer secure.Kill()
	connections := s.size(200, 2_000)
	var held atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for i := range connections {
		all.Go(func() {
			if !ends(ctx, web.address, clientHello[:len(clientHello)*(i%2)]) {
				held.Add(1)
			}
		})
	}
	served := 0
	for range 20 {
		if web.alive(ctx) {
			served++
		}
	}
	all.Wait()
	figures := []figure{{"half_open_handshakes", float64(connections)}, {"half_open_handshakes_held_s", time.Since(begin).Seconds()}}
	switch {
	case served < 20:
		return figures, harm("beside %d handshakes that never end only %d of 20 requests are served", connections, served)
	case held.Load() > 0:
		return figures, harm("%d of %d connections whose handshakes never end are held after %v", held.Load(), connections, heldLimit)
	}
	return figures, nil
}

// refuses runs the program, which is to end at once with an error that says why.
func (s *scene) refuses(ctx context.Context, env []string, says string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, startsWithin)
	defer cancel()
	_, err := s.rig.Run(ctx, env, args...)
	var ended *exec.ExitError
	switch {
	case err == nil:
		return harm("ostraka %s speaks in clear text to another machine", args[0])
	case !errors.As(err, &ended) || ctx.Err() != nil:
		return harm("ostraka %s does not refuse to speak in clear text to another machine: %v", args[0], err)
	case !strings.Contains(string(ended.Stderr), says):
		return harm("ostraka %s does not say that it would speak in clear text: %s", args[0], ended.Stderr)
	}
	return nil
}

// secureWeb asks a server with a certificate of its own.
type secureWeb struct {
	address string
	client  http.Client
}

func (w *secureWeb) alive(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+w.address+"/livez", nil)
	if err != nil {
		return false
	}
	res, err := w.client.Do(r)
	return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

// serveTLS starts a second server of the installation, with TLS.
func (s *scene) serveTLS(ctx context.Context) (*rig.Process, *secureWeb, error) {
	cert, key, roots, err := certificate(s.rig.Dir)
	if err != nil {
		return nil, nil, err
	}
	address, err := rig.FreeAddress(ctx)
	if err != nil {
		return nil, nil, err
	}
	web := &secureWeb{address: address, client: http.Client{Timeout: startsWithin, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12},
	}}}
	server, err := s.rig.Start([]string{"OSTRAKA_DATABASE_URL=" + s.server.DatabaseURL, "HOME=" + s.rig.Dir}, "server", "--listen", address,
		"--tls-cert", cert, "--tls-key", key, "--blob-dir", filepath.Join(s.rig.Dir, "objects"), "--cache-dir", filepath.Join(s.rig.Dir, "cache-tls"))
	if err != nil {
		return nil, nil, err
	}
	if !rig.Until(ctx, time.Minute, func() bool { return web.alive(ctx) }) {
		server.Kill()
		return nil, nil, fmt.Errorf("the server with TLS does not answer; it says: %s", server.Said())
	}
	return server, web, nil
}

// certificate writes one for this machine, and says who vouches for it.
func certificate(dir string) (certFile, keyFile string, roots *x509.CertPool, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return "", "", nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", "", nil, err
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	return certFile, keyFile, roots, errors.Join(
		os.WriteFile(certFile, cert, 0o600), os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}
