//go:build linux

package docker

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/testenv"
)

// fault stands before the real daemon and does to calls what it is told.
type fault struct {
	host    string
	meddler atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool] // true: it has answered
	server  *http.Server
}

func newFault(t *testing.T) *fault {
	t.Helper()
	daemon := strings.TrimPrefix(testenv.DockerDaemon(t).Host, "unix://")
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", daemon)
	}}
	proxy.Transport = transport
	f := &fault{host: "unix://" + socket}
	f.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m := f.meddler.Load(); m != nil && (*m)(w, r) {
			return
		}
		proxy.ServeHTTP(w, r)
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = f.server.Serve(l) }()
	t.Cleanup(func() { _ = f.server.Close(); <-served; transport.CloseIdleConnections() })
	return f
}

func (f *fault) meddle(m func(w http.ResponseWriter, r *http.Request) bool) { f.meddler.Store(&m) }

// refuse answers calls whose path ends so with an error of the daemon's.
func (f *fault) refuse(suffix string, status int, message string) {
	f.meddle(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, suffix) {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"message":"` + message + `"}`))
		return true
	})
}

func classOf(t *testing.T, err error) recheck.Class {
	t.Helper()
	var classified *recheck.Error
	require.ErrorAs(t, err, &classified)
	return classified.Class
}

// What goes wrong around a container is an error of its class, and passes.
func TestFailures(t *testing.T) {
	f := newFault(t)
	x := newExecutor(t, func(c *Config) { c.Host = f.host })
	require.NoError(t, x.Health(t.Context()))
	b := pack(t, "def handler(x): return x\n", "")
	for _, c := range []struct {
		name, suffix, message string
		status                int
		class                 recheck.Class
	}{
		{"full disk", "/start", "mkdir /x: no space left on device", 500, recheck.Full},
		{"full memory", "/containers/create", "cannot allocate memory", 500, recheck.Full},
		{"lost image", "/containers/create", "No such image: ostraka-recheck", 404, recheck.Image},
		{"refusal", "/containers/create", "authorization denied by plugin", 403, recheck.Unavailable},
		{"nonsense", "/start", "OCI runtime create failed: who knows", 500, recheck.Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.refuse(c.suffix, c.status, c.message)
			_, err := x.Recheck(t.Context(), batchOf(b, "1"))
			require.Equal(t, c.class, classOf(t, err), "%v", err)
			require.ErrorContains(t, err, c.message)
			f.meddle(func(http.ResponseWriter, *http.Request) bool { return false })
			testenv.Eventually(t, func() bool {
				results, err := x.Recheck(t.Context(), batchOf(b, "1"))
				return err == nil && results[0].Output == "1"
			}, "it passes")
		})
	}
}

// A daemon that is away, and comes back.
func TestAway(t *testing.T) {
	f := newFault(t)
	x := newExecutor(t, func(c *Config) { c.Host = f.host })
	away := func(w http.ResponseWriter, _ *http.Request) bool {
		if h, ok := w.(http.Hijacker); ok {
			if c, _, err := h.Hijack(); err == nil {
				c.Close()
			}
		}
		return true
	}
	f.meddle(away)
	err := x.Health(t.Context())
	require.Equal(t, recheck.Unavailable, classOf(t, err), "%v", err)
	_, err = x.Recheck(t.Context(), batchOf(pack(t, "def handler(x): return x\n", ""), "1"))
	require.Equal(t, recheck.Unavailable, classOf(t, err), "%v", err)
	f.meddle(func(http.ResponseWriter, *http.Request) bool { return false })
	testenv.Eventually(t, func() bool { return x.Health(t.Context()) == nil }, "the daemon is back")
	f.meddle(away)
	require.Error(t, x.Health(t.Context()))
	f.meddle(func(http.ResponseWriter, *http.Request) bool { return false })
}

// A pinned image that is not there is said so, and never replaced.
func TestPinnedImage(t *testing.T) {
	x := newExecutor(t)
	require.NoError(t, x.Health(t.Context()))
	image := x.Describe().Image
	pinned := newExecutor(t, func(c *Config) { c.Image = image })
	require.NoError(t, pinned.Health(t.Context()))
	require.Equal(t, image, pinned.Describe().Image)
	missing := newExecutor(t, func(c *Config) { c.Image = "sha256:" + strings.Repeat("0", 64) })
	require.Equal(t, recheck.Image, classOf(t, missing.Health(t.Context())))
}

// Containers whose process is gone are removed, those of others are not.
func TestLeftovers(t *testing.T) {
	x := newExecutor(t)
	p, err := x.ready(t.Context())
	require.NoError(t, err)
	e := p.e
	create := func(installation, machine, process string) string {
		made, err := x.client.ContainerCreate(t.Context(), &container.Config{Image: e.image, Entrypoint: []string{"/none"}, Labels: map[string]string{
			labelOurs: "1", labelInstallation: installation, labelMachine: machine, labelOwner: process,
		}}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.remove(context.Background(), made.ID)) })
		return made.ID
	}
	dead, alive := create(x.cfg.Installation, machine(), "1/0"), create(x.cfg.Installation, machine(), e.owner.process)
	elsewhere, foreign := create(x.cfg.Installation, "another machine", "1/0"), create("another-installation", machine(), "1/0")
	removed, err := e.removeLeftovers(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, removed)
	for id, there := range map[string]bool{dead: false, alive: true, elsewhere: true, foreign: true} {
		_, err := x.client.ContainerInspect(t.Context(), id)
		require.Equal(t, there, err == nil, "%v", err)
	}
}

func TestOwner(t *testing.T) {
	me := thisProcess()
	labels := func(machine, process string) map[string]string {
		return map[string]string{labelMachine: machine, labelOwner: process}
	}
	require.False(t, gone(labels(me.machine, me.process)))
	require.True(t, gone(labels(me.machine, "1/1")))
	require.False(t, gone(labels("elsewhere", "1/1")), "nobody here knows")
	require.False(t, gone(labels(me.machine, "no owner")))
}
