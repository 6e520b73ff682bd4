package agent

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/eula"
)

func testBundle(t *testing.T) *bundle.Bundle {
	t.Helper()
	return packed(t, "def handler(x):\n    return 2 * x['n']\n")
}

// packed is the function "double" with this code.
func packed(t *testing.T, code string) *bundle.Bundle {
	t.Helper()
	return packedWith(t, "", code)
}

// packedWith is the same with further lines in its manifest.
func packedWith(t *testing.T, lines, code string) *bundle.Bundle {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "function.toml"), []byte("name = \"double\"\nentrypoint = \"main:handler\"\n"+lines), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(code), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	return b
}

// agreeing accepts every agreement.
func agreeing(context.Context, eula.Document) (bool, error) { return true, nil }

// testOptions are an agent's options for a fake server.
func testOptions(t *testing.T, s *httptest.Server) Options {
	t.Helper()
	return Options{
		URL: s.URL, Token: fakeToken, DataDir: t.TempDir(), Name: "tester", Version: "test",
		Agree: agreeing, Sandbox: &fakeSandbox{}, reader: &fakeReader{}, AllowUnsigned: true, Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// start runs an agent; stop ends it and returns what Run returned.
func start(t *testing.T, o Options) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- Run(ctx, o) }()
	return func() error {
		cancel()
		return <-result
	}
}
