package pip

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPipIsInThisProgram fails where a later version of go-embed-python keeps it elsewhere.
func TestPipIsInThisProgram(t *testing.T) {
	version, err := Version()
	require.NoError(t, err)
	require.Regexp(t, `^\d+\.\d+`, version)
	dir := t.TempDir()
	require.NoError(t, unpack(dir))
	require.FileExists(t, filepath.Join(dir, "pip", "__main__.py"))
	require.NoDirExists(t, filepath.Join(dir, "bin"))
}

// TestTidy leaves what a package has in the tree, and nothing that names this machine; a hostile RECORD reaches nothing outside.
func TestTidy(t *testing.T) {
	up := t.TempDir()
	dir := filepath.Join(up, "site")
	files := map[string]string{
		"a/__init__.py": "", "a-1.dist-info/METADATA": "", "a-1.dist-info/direct_url.json": "{}", "a-1.dist-info/REQUESTED": "", "bin/a": "#!/home/me/python", "share/doc/a": "",
		"share/kept": "",
		"a-1.dist-info/RECORD": "../../bin/a,sha256=x,1\n../../share/doc/a,,\na-1.dist-info/METADATA,,\na-1.dist-info/RECORD,,\n" +
			"a-1.dist-info/direct_url.json,,\na-1.dist-info/REQUESTED,,\n\"a/with, comma.py\",,\na/__init__.py,,\n",
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o600))
	}
	require.NoError(t, tidy(dir))
	record, err := os.ReadFile(filepath.Join(dir, "a-1.dist-info/RECORD"))
	require.NoError(t, err)
	require.Equal(t, "a-1.dist-info/METADATA,,\na-1.dist-info/RECORD,,\n\"a/with, comma.py\",,\na/__init__.py,,\n", string(record))
	require.NoDirExists(t, filepath.Join(dir, "bin"))
	require.NoDirExists(t, filepath.Join(dir, "share/doc"))
	require.FileExists(t, filepath.Join(dir, "share/kept"))
	require.NoFileExists(t, filepath.Join(dir, "a-1.dist-info/direct_url.json"))
	require.NoFileExists(t, filepath.Join(dir, "a-1.dist-info/REQUESTED"))

	require.NoError(t, os.WriteFile(filepath.Join(up, "precious"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a-1.dist-info/RECORD"), []byte("../../../precious,,\n"), 0o600))
	require.Error(t, tidy(dir))
	require.FileExists(t, filepath.Join(up, "precious"))
}

func TestWhatPipSays(t *testing.T) {
	skipped := filepath.Join(t.TempDir(), "skipped.json")
	require.NoError(t, os.WriteFile(skipped, []byte(`[{"file":"a-1-cp314-cp314-win_amd64.whl","kind":"platform_mismatch","detail":"x"},
		{"file":"a-1.tar.gz","kind":"format_unsupported","detail":"x"},{"file":"index.html","kind":"format_unsupported","detail":"x"},
		{"file":"a-2-py3-none-any.whl","kind":"requires_python_mismatch","detail":"2 Requires-Python >=3.99"}]`), 0o600))
	err := explain(&failure{err: os.ErrInvalid, words: "WARNING: slow\nERROR: No matching distribution found for a\n"}, skipped)
	require.ErrorIs(t, err, ErrUnresolved)
	require.Equal(t, "the requirements cannot be met: No matching distribution found for a\nthere is:\n"+
		"a-1-cp314-cp314-win_amd64.whl: a wheel for another platform or another Python\n"+
		"a-1.tar.gz: a source distribution, which would have to be built: make a wheel of it (pip wheel), and name its folder with --find-links\n"+
		"a-2-py3-none-any.whl: 2 Requires-Python >=3.99", err.Error())
	err = explain(&failure{err: os.ErrInvalid, words: "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n    a==1\n"}, skipped)
	require.ErrorIs(t, err, ErrHash)
	require.ErrorContains(t, explain(&failure{err: os.ErrInvalid, words: "killed"}, skipped), "running pip")
}
