package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRepackedIsAsPacked(t *testing.T) {
	dir := writeTree(t, map[string]string{ManifestName: minimal, "main.py": "import lib.x\n", "lib/x.py": "x = 1\n", "run.sh": "#!/bin/sh\n"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	packed, err := Pack(dir)
	require.NoError(t, err)
	theirs := forge(t,
		entry{name: "run.sh", content: "#!/bin/sh\n", mode: 0o700}, entry{name: "main.py", content: "import lib.x\n"}, entry{name: "lib/x.py", content: "x = 1\n"},
		entry{name: "lib/__pycache__/x.cpython-314.pyc", content: "junk"}, entry{name: ".git/config", content: "junk"}, entry{name: ManifestName, content: minimal})
	repacked, err := Repack(bytes.NewReader(theirs))
	require.NoError(t, err)
	require.Equal(t, packed.Digest, repacked.Digest)
	require.Equal(t, packed.Files, repacked.Files)

	_, err = Repack(bytes.NewReader([]byte("no archive")))
	require.ErrorContains(t, err, "not gzip")
}
