package bundle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPinnedRuntime(t *testing.T) {
	digest := strings.Repeat("0a", 32)
	m, err := ParseManifest([]byte("name = \"f\"\nruntime = \"" + PinnedRuntime("numpy", digest) + "\"\n[limits]\ncpu_seconds = 5\n"))
	require.NoError(t, err)
	require.Equal(t, digest, m.RuntimeDigest())
	require.Equal(t, "numpy", m.RuntimeName())
	require.Equal(t, int64(5), m.Limits.CPUSeconds, "it has the limits of Python")
	require.False(t, m.IsWasm())
	for _, none := range []string{RuntimePython3, RuntimeWasm} {
		require.Empty(t, (&Manifest{Runtime: none}).RuntimeDigest())
	}
	for _, wrong := range []string{"numpy@" + digest, "Numpy@sha256:" + digest, "numpy@sha256:" + digest + "0", "numpy@sha256:" + strings.ToUpper(digest), "@sha256:" + digest, "numpy@sha512:" + digest} {
		_, err := ParseManifest([]byte("name = \"f\"\nruntime = \"" + wrong + "\"\n"))
		require.ErrorContains(t, err, "NAME@sha256:DIGEST", wrong)
	}
	_, err = ParseManifest([]byte("name = \"f\"\nruntime = \"" + PinnedRuntime("numpy", digest) + "\"\n[limits]\nfuel = 5\n"))
	require.ErrorContains(t, err, "limits.fuel")
}
