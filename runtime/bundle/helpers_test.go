package bundle

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const minimal = "name = \"f\"\n"

// entry is one entry of a hand-made archive.
type entry struct {
	name    string
	content string
	typ     byte
	link    string
	mode    int64 // 0o644 when left out
}

// forge writes an archive as an attacker would, without Pack's care.
func forge(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	zip := gzip.NewWriter(&buf)
	w := tar.NewWriter(zip)
	for _, e := range entries {
		typ := e.typ
		if typ == 0 {
			typ = tar.TypeReg
		}
		h := &tar.Header{Typeflag: typ, Name: e.name, Linkname: e.link, Mode: cmp.Or(e.mode, 0o644)}
		if typ == tar.TypeReg {
			h.Size = int64(len(e.content))
		}
		require.NoError(t, w.WriteHeader(h))
		if typ == tar.TypeReg {
			_, err := w.Write([]byte(e.content))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, zip.Close())
	return buf.Bytes()
}

func base(more ...entry) []entry {
	return append([]entry{{name: ManifestName, content: minimal}, {name: "main.py", content: "def handler(x): return x\n"}}, more...)
}

func verify(b []byte) (*Bundle, error) { return Verify(bytes.NewReader(b), int64(len(b))) }

func writeTree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		p := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte(content), 0o644))
	}
	return dir
}
