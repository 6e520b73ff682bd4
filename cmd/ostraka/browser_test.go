package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// browserPatience is how much of its own time a page has to draw itself, in the browser's clock, which runs as fast as the page works.
	browserPatience = "30000"
	// browserLimit bounds one start of the browser.
	browserLimit = 2 * time.Minute
)

// browse opens a page in a real browser and returns what stands on it when its scripts have run.
func browse(t *testing.T, address string) string {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	require.NotEmpty(t, program, "there is no browser: scripts/setup.sh test installs one")
	ctx, cancel := context.WithTimeout(t.Context(), browserLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--no-first-run", "--user-data-dir="+t.TempDir(), "--virtual-time-budget="+browserPatience, "--dump-dom", address)
	page, err := cmd.Output()
	require.NoError(t, err, "opening %s", address)
	return string(page)
}

// TestPagesInABrowser opens the pages that the server has, whose policies forbid much of what pages usually do.
func TestPagesInABrowser(t *testing.T) {
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	d, err := startDev(t.Context(), devConfig{Dir: filepath.Join(t.TempDir(), "dev"), Listen: "127.0.0.1:0", Log: log, Terminal: systemTerminal()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.stop()) })

	docs := browse(t, d.info.URL+"/docs")
	require.Contains(t, docs, "createUpload")
	require.Contains(t, browse(t, d.info.URL+"/docs/problems"), "module_too_large")

	// Whoever opens River's page is asked for a password; here a proxy gives it, as the browser would.
	server, err := url.Parse(d.info.URL)
	require.NoError(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(server)
		r.Out.SetBasicAuth("operator", d.info.OperatorKey)
	}})
	defer proxy.Close()
	queues := browse(t, proxy.URL+"/ops/river/queues")
	for _, name := range []string{"control", "verify", "aggregate"} {
		require.Contains(t, queues, ">"+name+"<", "the page lists the queues")
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.info.URL+"/ops/river/queues", http.NoBody)
	require.NoError(t, err)
	answer, err := new(http.Client).Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode, "without a password there is nothing to see")
}
