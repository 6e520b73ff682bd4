package api_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api"
)

const page = "<!doctype html><title>Ostraka</title>"

var script = strings.Repeat("console.log(1);", 100)

func withPortal(o *api.Options) {
	o.Portal = fstest.MapFS{
		"index.html": {Data: []byte(page)}, "assets/index-abc.js": {Data: []byte(script)}, "assets/wasm-worker-abc.js": {Data: []byte("1")},
	}
}

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

func TestThePortalIsWhatPeopleSee(t *testing.T) {
	r := newRig(t, withPortal)
	for _, path := range []string{"/", "/p/numbers/jobs", "/sign-in", "/opsy", "/docsy"} {
		a := r.ask("GET", path, "", "", "Accept", browser)
		require.Equal(t, 200, a.StatusCode, path)
		require.Equal(t, page, string(a.body), path)
		require.Equal(t, "text/html; charset=utf-8", a.Header.Get("Content-Type"))
		policy := a.Header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'")
		require.NotContains(t, policy, "unsafe")
		require.Equal(t, "same-origin", a.Header.Get("Cross-Origin-Opener-Policy"))
		require.Equal(t, "no-cache", a.Header.Get("Cache-Control"))
		require.Contains(t, a.Header.Values("Vary"), "Accept-Encoding")
		again := r.ask("GET", path, "", "", "Accept", browser, "If-None-Match", a.Header.Get("ETag"))
		require.Equal(t, 304, again.StatusCode)
	}
	head := r.ask("HEAD", "/p/numbers", "", "", "Accept", browser)
	require.Equal(t, 200, head.StatusCode)
	require.Empty(t, head.body)
}

func TestThePortalIsNotWhatProgramsSee(t *testing.T) {
	r := newRig(t, withPortal)
	for _, path := range []string{"/v1", "/v1/nothing", "/docs/nothing", "/ops/nothing", "/metrics/nothing", "/openapi.json5", "/assets/nothing.js", "/client/nothing"} {
		require.Equal(t, "no_such_route", r.ask("GET", path, "", "", "Accept", browser).problem(t).Code, path)
	}
	for _, accept := range []string{"", "*/*", "application/json", "text/htmlx"} {
		require.Equal(t, "no_such_route", r.ask("GET", "/p/numbers", "", "", "Accept", accept).problem(t).Code, accept)
	}
	require.Equal(t, 404, r.ask("POST", "/p/numbers", ownerKey, "{}", "Accept", browser).problem(t).Status)
	require.Equal(t, 200, r.ask("GET", "/", "", "").StatusCode, "a program is sent on to the reference")
	require.Equal(t, 404, newRig(t).ask("GET", "/p/numbers", "", "", "Accept", browser).problem(t).Status, "without a portal there is nothing")
}

func TestAssetsAreKeptAndPacked(t *testing.T) {
	r := newRig(t, withPortal)
	a := r.ask("GET", "/assets/index-abc.js", "", "", "Accept-Encoding", "br, gzip")
	require.Equal(t, "gzip", a.Header.Get("Content-Encoding"))
	require.Contains(t, a.Header.Get("Cache-Control"), "immutable")
	require.Contains(t, a.Header.Get("Content-Type"), "javascript")
	unpacked, err := gzip.NewReader(bytes.NewReader(a.body))
	require.NoError(t, err)
	text, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	require.Equal(t, script, string(text))
	plain := r.ask("GET", "/assets/index-abc.js", "", "", "Accept-Encoding", "gzip;q=0")
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	require.Equal(t, script, string(plain.body))
	require.Equal(t, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'", r.ask("GET", "/assets/wasm-worker-abc.js", "", "").Header.Get("Content-Security-Policy"))
}

func TestEveryAnswerNamesTheBuildOfThePortal(t *testing.T) {
	r := newRig(t, withPortal)
	build := r.ask("GET", "/livez", "", "").Header.Get("Ostraka-Portal")
	require.Len(t, build, 16)
	other := newRig(t, func(o *api.Options) { o.Portal = fstest.MapFS{"index.html": {Data: []byte("another")}} })
	require.NotEqual(t, build, other.ask("GET", "/livez", "", "").Header.Get("Ostraka-Portal"))
}
