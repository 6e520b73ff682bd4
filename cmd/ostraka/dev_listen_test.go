//go:build linux

package main

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDevKeepsItsPort holds that dev.env and bookmarks of an earlier run go on being right where any port will do.
func TestDevKeepsItsPort(t *testing.T) {
	d := &dev{config: devConfig{Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)}}
	first, err := d.listen(t.Context())
	require.NoError(t, err)
	d.info.URL = serverURL(first)

	other, err := d.listen(t.Context())
	require.NoError(t, err, "it is taken, so another one is")
	defer other.Close()
	require.NotEqual(t, first.Addr(), other.Addr())

	require.NoError(t, first.Close())
	again, err := d.listen(t.Context())
	require.NoError(t, err)
	defer again.Close()
	require.Equal(t, first.Addr(), again.Addr())

	d.config.Listen = other.Addr().String()
	_, err = d.listen(t.Context())
	require.ErrorContains(t, err, "address already in use", "a port that was named is that one or none")
}
