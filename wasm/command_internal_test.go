package wasm

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

// A compiler may take a gigabyte: no more than two run at a time. What is
// compiled waits for none of them.
func TestCompilersTakeTurns(t *testing.T) {
	c, err := NewCommands(CommandOptions{CacheDir: filepath.Join(t.TempDir(), "compiled")})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	open := func(ctx context.Context, text string) error {
		x, err := c.Open(ctx, FromBytes(w.Print(text).Bytes()), PageSize, time.Minute)
		x.Close()
		return err
	}
	require.NoError(t, open(t.Context(), "1"))
	require.Empty(t, c.compiling, "it is done")
	for range maxCompilers {
		c.compiling <- struct{}{}
	}
	require.NoError(t, open(t.Context(), "1"))
	ended, end := context.WithCancel(t.Context())
	end()
	err = open(ended, "2")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "waiting for the compiler")
	<-c.compiling
	require.NoError(t, open(t.Context(), "2"))
}
