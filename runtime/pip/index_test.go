//go:build linux

package pip

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/python"
)

// smallWheel is one with a single module.
func smallWheel(t *testing.T, name, version string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	info := name + "-" + version + ".dist-info/"
	for _, f := range [][2]string{
		{name + ".py", "answer = 42\n"},
		{info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", name + ".py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	} {
		w, err := z.Create(f[0])
		require.NoError(t, err)
		_, err = w.Write([]byte(f[1]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

// TestAnIndexIsAsked installs from an index, and then what a lock names from it; the index then serves something else under the same name.
func TestAnIndexIsAsked(t *testing.T) {
	wheel := smallWheel(t, "small", "1.5")
	sum := sha256.Sum256(wheel)
	index := http.NewServeMux()
	index.HandleFunc("GET /simple/small/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<a href="/files/small-1.5-py3-none-any.whl#sha256=%s">small-1.5-py3-none-any.whl</a>`, hex.EncodeToString(sum[:]))
	})
	index.HandleFunc("GET /files/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(wheel) })
	s := httptest.NewServer(index)
	defer s.Close()
	t.Setenv("PIP_CONFIG_FILE", os.DevNull) // whatever this machine's settings are
	t.Setenv("PIP_NO_CACHE_DIR", "1")
	t.Setenv("PIP_FIND_LINKS", "")
	own, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)

	dir := t.TempDir()
	requirements := filepath.Join(dir, "requirements.txt")
	require.NoError(t, os.WriteFile(requirements, []byte("Small>=1\n"), 0o600))
	w := Wanted{Requirements: requirements, IndexURL: s.URL + "/simple"}
	got, err := Install(t.Context(), own, w, filepath.Join(dir, "first"))
	require.NoError(t, err)
	require.Equal(t, []Package{{Name: "small", Version: "1.5", SHA256: hex.EncodeToString(sum[:])}}, got)
	require.FileExists(t, filepath.Join(dir, "first", "small.py"))

	l := Lock{Requirements: digest("1"), Python: "3", Runtime: digest("2"), Packages: got}
	require.NoError(t, os.WriteFile(requirements, []byte(l.String()), 0o600))
	w.Locked = true
	again, err := Install(t.Context(), own, w, filepath.Join(dir, "second"))
	require.NoError(t, err)
	require.Equal(t, got, again)

	wheel = append(wheel, 0)
	_, err = Install(t.Context(), own, w, filepath.Join(dir, "third"))
	require.ErrorIs(t, err, ErrHash)
}
