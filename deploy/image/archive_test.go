package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func sample() options {
	return options{program: []byte("a program"), version: "v1", architecture: "amd64"}
}

// contents reads a tar, and holds that nothing in it tells when or by whom it was built.
func contents(t *testing.T, data []byte) map[string]entry {
	t.Helper()
	all := map[string]entry{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		require.True(t, h.ModTime.Equal(time.Unix(0, 0)), h.Name)
		require.Empty(t, h.Uname)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		all[h.Name] = entry{h.Name, h.Mode, h.Uid, text}
	}
}

func TestTheSameProgramMakesTheSameImage(t *testing.T) {
	t.Parallel()
	var first, second, other bytes.Buffer
	a, err := build(&first, sample())
	require.NoError(t, err)
	b, err := build(&second, sample())
	require.NoError(t, err)
	require.Equal(t, a, b)
	require.Equal(t, first.Bytes(), second.Bytes())
	o := sample()
	o.program = []byte("another program")
	c, err := build(&other, o)
	require.NoError(t, err)
	require.NotEqual(t, a, c)
}

func TestAnImageHoldsWhatItNames(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	digest, err := build(&text, sample())
	require.NoError(t, err)
	files := contents(t, text.Bytes())
	for name, blob := range files {
		if sum := strings.TrimPrefix(name, "blobs/sha256/"); sum != name && sum != "" {
			got := sha256.Sum256(blob.data)
			require.Equal(t, sum, hex.EncodeToString(got[:]))
		}
	}
	var index struct{ Manifests []descriptor }
	require.NoError(t, json.Unmarshal(files["index.json"].data, &index))
	require.Equal(t, digest, index.Manifests[0].Digest)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	require.NoError(t, json.Unmarshal(files[pathOf(index.Manifests[0])].data, &manifest))
	require.Len(t, files[pathOf(manifest.Layers[0])].data, manifest.Layers[0].Size)
	var docker []struct {
		Config   string
		Layers   []string
		RepoTags []string
	}
	require.NoError(t, json.Unmarshal(files["manifest.json"].data, &docker))
	require.Equal(t, pathOf(manifest.Config), docker[0].Config)
	require.Equal(t, []string{pathOf(manifest.Layers[0])}, docker[0].Layers)
	require.Equal(t, []string{"ostraka:v1"}, docker[0].RepoTags)

	layer := contents(t, files[docker[0].Layers[0]].data)
	require.Equal(t, entry{"ostraka", 0o755, 0, []byte("a program")}, layer["ostraka"])
	require.EqualValues(t, 0o1777, layer["tmp/"].mode)
	require.Equal(t, user, layer["var/lib/ostraka/"].owner)
	require.True(t, x509.NewCertPool().AppendCertsFromPEM(layer["etc/ssl/certs/ca-certificates.crt"].data))
}

func TestVersionsThatAreNoTags(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "a b", "-a", "a/b"} {
		_, err := pack("/nowhere", t.TempDir()+"/image", options{version: version})
		require.ErrorContains(t, err, "cannot be a tag", version)
	}
}
