package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// objectServer serves one text under every digest, as a hostile server might.
func objectServer(t *testing.T, text string) *connection {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }))
	t.Cleanup(s.Close)
	c, err := dial(s.URL, "key")
	require.NoError(t, err)
	c.project = uuid.New()
	return c
}

// Nothing that a server says of artifacts leads out of the folder that they are downloaded to.
func TestArtifactsStayInTheirFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	c := objectServer(t, "text")
	get := func(path string) error {
		return copyArtifact(t.Context(), c, root, 3, client.File{Path: path, Digest: sha("text"), Size: 4})
	}
	for _, path := range []string{"../x", "../../x", "/etc/x", "a/../../x", "a/../x", "a//x", "./x", "", ".", "a\x1b[2Jx", "a\nx", "a\x00x"} {
		require.Error(t, get(path), "%q", path)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoFileExists(t, filepath.Join(filepath.Dir(dir), "x"))

	require.NoError(t, get("a/x"))
	require.NoError(t, get("a/x"), "it is there already")
	require.Error(t, get("a"), "a folder is no file")
	require.Error(t, get("a/x/y"), "a file is no folder")

	// Links that lie there, whoever made them.
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "3", "link")))
	require.Error(t, get("link/x"))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "victim"), []byte("text"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(outside, "victim"), filepath.Join(dir, "3", "x")))
	require.NoError(t, get("x"), "the link is replaced and not followed")
	info, err := os.Lstat(filepath.Join(dir, "3", "x"))
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular())
	found, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, found, 1)

	// Other bytes than those that were named are not kept, however many they are.
	for name, text := range map[string]string{"other": "evil", "endless": strings.Repeat("text", 1<<18)} {
		err := copyArtifact(t.Context(), objectServer(t, text), root, 4, client.File{Path: "b", Digest: sha("text"), Size: 4})
		require.ErrorContains(t, err, "do not use it", name)
		left, err := os.ReadDir(filepath.Join(dir, "4"))
		require.NoError(t, err)
		require.Empty(t, left, name)
	}
}

func TestArtifactsThatAreOneFileOnSomeSystems(t *testing.T) {
	files := func(paths ...string) (s client.ShardArtifacts) {
		for _, p := range paths {
			s.Files = append(s.Files, client.File{Path: p})
		}
		return s
	}
	for _, system := range []string{"darwin", "windows"} {
		require.ErrorContains(t, checkPlaces(files("a/Plot.png", "a/plot.png"), system), "are one on this system")
		require.ErrorContains(t, checkPlaces(files("e\u0301", "\u00e9"), system), "are one on this system")
		require.NoError(t, checkPlaces(files("a", "b"), system))
	}
	require.NoError(t, checkPlaces(files("a/Plot.png", "a/plot.png"), "linux"))
}
