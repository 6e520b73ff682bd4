package monitor

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/monitor/threshold"
	"github.com/ostraka/ostraka/runtime/webhook"
	"github.com/ostraka/ostraka/testenv"
)

func event() Event {
	return Event{Sandbox: "one", About: About{Job: "a job"}, Alert: threshold.Alert{Metric: threshold.Memory, Level: threshold.Critical, Text: "too much"}, Killed: true}
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "handler")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755))
	return path
}

func TestCommandGetsTheAlert(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	t.Setenv("OSTRAKA_TOKEN", "secret")
	c, err := NewCommand(script(t, `{ cat; echo "$1 $OSTRAKA_TOKEN"; } >"$2"`), "$HOME;x", out)
	require.NoError(t, err)
	require.NoError(t, c.Handle(t.Context(), event()))
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	line, rest, _ := strings.Cut(string(text), "\n")
	require.Equal(t, "$HOME;x \n", rest, "no shell reads the arguments, and nothing of the agent's is in the environment")
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(line), &got))
	require.Equal(t, "a job", got["job"])
	require.Equal(t, "critical", got["level"])
	require.Equal(t, true, got["killed"])
}

// TestCommandThatHangsIsKilled has one that ignores what it is asked and leaves children.
func TestCommandThatHangsIsKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	c, err := NewCommand(script(t, `trap '' TERM; sleep 1000 & echo $! >"$1"; while :; do sleep 1000; done`), file)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // it hangs once its child is there
		for {
			if text, err := os.ReadFile(file); err == nil && strings.HasSuffix(string(text), "\n") {
				cancel()
				return
			}
		}
	}()
	require.ErrorContains(t, c.Handle(ctx, event()), "killed")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	testenv.Eventually(t, func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		return err != nil || strings.Contains(string(stat), ") Z ") || syscall.Kill(pid, 0) != nil
	}, "its child is gone, too")
}

func TestCommandThatFails(t *testing.T) {
	c, err := NewCommand(script(t, "echo no disk >&2; exit 3"))
	require.NoError(t, err)
	err = c.Handle(t.Context(), event())
	require.ErrorContains(t, err, "exit status 3")
	require.ErrorContains(t, err, "no disk")
	for _, bad := range []string{"relative", "/no/such/program", t.TempDir(), "/etc/passwd"} {
		_, err := NewCommand(bad)
		require.Error(t, err, bad)
	}
}

func TestWebhookIsSigned(t *testing.T) {
	secret := strings.Repeat("k", minSecret)
	var body []byte
	var header http.Header
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		header = r.Header
	}))
	defer s.Close()
	for _, form := range []string{secret, "whsec_" + base64.StdEncoding.EncodeToString([]byte(secret)) + "\n"} {
		file := filepath.Join(t.TempDir(), "secret")
		require.NoError(t, os.WriteFile(file, []byte(form), 0o600))
		w, err := NewWebhook(s.URL+"/hook", file)
		require.NoError(t, err)
		require.NoError(t, w.Handle(t.Context(), event()))
		require.Contains(t, string(body), `"text":"too much"`)
		require.Equal(t, webhook.Sign([]byte(secret), header.Get("Webhook-Id"), header.Get("Webhook-Timestamp"), body), header.Get("Webhook-Signature"))
	}
	// The example of Standard Webhooks.
	key, err := parseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	require.NoError(t, err)
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", webhook.Sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)))
}

// TestWebhookThatIsDown is tried so many times and no more.
func TestWebhookThatIsDown(t *testing.T) {
	var calls atomic.Int64
	status := http.StatusServiceUnavailable
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if status == http.StatusFound {
			http.Redirect(w, r, "/elsewhere", status)
			return
		}
		w.WriteHeader(status)
	}))
	w, err := NewWebhook(s.URL+"/?token=secret", "")
	require.NoError(t, err)
	w.pause = time.Microsecond
	err = w.Handle(t.Context(), event())
	require.ErrorContains(t, err, "503")
	require.NotContains(t, err.Error(), "secret")
	require.Equal(t, int64(WebhookTries), calls.Load())
	for _, final := range []int{http.StatusNotFound, http.StatusFound} {
		calls.Store(0)
		status = final
		require.Error(t, w.Handle(t.Context(), event()))
		require.Equal(t, int64(1), calls.Load(), final)
	}
	s.Close()
	err = w.Handle(t.Context(), event())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}

func TestWebhookIsChecked(t *testing.T) {
	short := filepath.Join(t.TempDir(), "short")
	require.NoError(t, os.WriteFile(short, []byte(strings.Repeat("k", minSecret-1)), 0o600))
	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(broken, []byte("whsec_!"), 0o600))
	for _, c := range [][2]string{{"nowhere", ""}, {"ftp://x/", ""}, {"http://x/", "/no/such/file"}, {"http://x/", short}, {"http://x/", broken}} {
		_, err := NewWebhook(c[0], c[1])
		require.Error(t, err, c)
	}
}
