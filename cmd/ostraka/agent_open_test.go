package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/ownerpage"
	"github.com/ostraka/ostraka/testenv"
)

func TestTheOwnersPageIsServedUntilItIsEnded(t *testing.T) {
	t.Parallel()
	p := runProgram(t, nil, "agent", "open", "--data", t.TempDir(), "--no-browser")
	address, token, found := strings.Cut(p.line("http://127.0.0.1:"), "/#")
	require.True(t, found)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/session", strings.NewReader(`{"token":"`+token+`"}`))
	require.NoError(t, err)
	answer, err := new(http.Client).Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	p.signal(syscall.SIGINT)
	require.Equal(t, 0, p.ends())
	require.Contains(t, p.said(), "The link works once")
	require.NotContains(t, p.said(), token, "what is said may be logged")
}

// TestTheLinkIsNoArgument has a program stand in for the one that opens browsers.
func TestTheLinkIsNoArgument(t *testing.T) {
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	script := "#!/bin/sh\necho \"$@\" >" + said + ".new\ncat \"$1\" >>" + said + ".new\nmv " + said + ".new " + said + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", dir)
	t.Setenv("XDG_CACHE_HOME", dir)
	const link = "http://127.0.0.1:1/#SECRET"
	stage := &terminal{talk: t.Output(), env: func(string) string { return ":0" }}
	opened := func() (argument string) {
		var text []byte
		testenv.Eventually(t, func() (there bool) {
			var err error
			text, err = os.ReadFile(said)
			return err == nil
		}, "the browser is opened")
		require.NoError(t, os.Remove(said))
		argument, content, _ := strings.Cut(string(text), "\n")
		require.NotContains(t, argument, "SECRET")
		require.Contains(t, content, "url="+link+`"`)
		for path, mode := range map[string]os.FileMode{filepath.Dir(argument): 0o700, argument: 0o600} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm(), path)
		}
		return argument
	}
	forget, err := openOwnerPage(t.Context(), stage, link)
	require.NoError(t, err)
	file := opened()
	forget()
	require.NoDirExists(t, filepath.Dir(file))
	openPortal(t.Context(), stage, link)
	opened()
}

// serveTestPage serves the page of an empty folder until the test ends.
func serveTestPage(t *testing.T) (address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	page, err := ownerpage.New(ownerpage.Options{Dir: t.TempDir(), Host: l.Addr().String(), Say: func(string) {}})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- serveOwnerPage(ctx, page, l) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return l.Addr().String()
}

func connect(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// answers says whether the page is served on a connection.
func answers(t *testing.T, c net.Conn, address string) bool {
	t.Helper()
	_, _ = io.WriteString(c, "GET /icon.svg HTTP/1.1\r\nHost: "+address+"\r\n\r\n") // one too many may be closed already
	got := make([]byte, len("HTTP/1.1 200"))
	_, err := io.ReadFull(c, got)
	return err == nil && string(got) == "HTTP/1.1 200"
}

func TestTheOwnersPageHasFewConnections(t *testing.T) {
	t.Parallel()
	address := serveTestPage(t)
	var open []net.Conn
	for range ownerPageConnections {
		open = append(open, connect(t, address))
		require.True(t, answers(t, open[len(open)-1], address))
	}
	require.False(t, answers(t, connect(t, address), address))
	require.NoError(t, open[0].Close())
	testenv.Eventually(t, func() bool { return answers(t, connect(t, address), address) }, "there is room again")
}

func TestTheOwnersPageDoesNotWaitForTheSlow(t *testing.T) {
	t.Parallel()
	address := serveTestPage(t)
	head, body, idle := connect(t, address), connect(t, address), connect(t, address)
	_, err := io.WriteString(head, "GET / HTTP/1.1\r\nHost: ")
	require.NoError(t, err)
	_, err = io.WriteString(body, "POST /session HTTP/1.1\r\nHost: "+address+"\r\nContent-Length: 100\r\n\r\n{")
	require.NoError(t, err)
	for _, c := range []net.Conn{head, body, idle} {
		_, err := io.ReadAll(c)
		require.NoError(t, err, "it is closed")
	}
}
