package webhook_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/webhook"
	"github.com/ostraka/ostraka/testenv"
)

// TestTheReceiverOfTheDocs runs the receiver that docs/webhooks.md shows: it believes what was signed with its secret, and nothing else.
func TestTheReceiverOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/webhooks.md")
	require.NoError(t, err)
	_, code, found := strings.Cut(string(page), "```python\n")
	require.True(t, found)
	code, _, found = strings.Cut(code, "```")
	require.True(t, found)
	dir := t.TempDir()
	secret := webhook.NewSecret()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte(secret+"\n"), 0o600))
	python, err := exec.LookPath("python3")
	require.NoError(t, err, "Python 3.9 or later is needed")
	address := free(t)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, python, "-c", code, filepath.Join(dir, "secret"), port)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
	})
	client := webhook.NewClient(webhook.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, "1")
	post := func(key string) (webhook.Answer, error) {
		bytes, err := webhook.ParseSecret(key)
		require.NoError(t, err)
		return client.Post(t.Context(), "http://"+address+"/", "msg_1", []byte(`{"type":"webhook.test"}`), bytes)
	}
	testenv.Eventually(t, func() bool { _, err := post(secret); return err == nil }, "it serves")
	answer, err := post(secret)
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, answer.Status)
	answer, err = post(webhook.NewSecret())
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, answer.Status)
}

// free is an address of this machine that nobody serves on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}
