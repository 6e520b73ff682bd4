package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPackVerifyUnpack(t *testing.T) {
	dir := writeTree(t, map[string]string{
		ManifestName: minimal, "main.py": "import lib.x\n", "lib/x.py": "", "tool.sh": "#!/bin/sh\n",
		"__pycache__/main.cpython-311.pyc": "junk", ".git/config": "junk",
	})
	require.NoError(t, os.Chmod(filepath.Join(dir, "tool.sh"), 0o755))
	b, err := Pack(dir)
	require.NoError(t, err)
	require.Equal(t, "f", b.Manifest.Name)
	require.Len(t, b.Digest, 64)
	require.Equal(t, int64(len(b.Archive())), b.Size)
	var paths []string
	for _, f := range b.Files {
		paths = append(paths, f.Path)
	}
	require.Equal(t, []string{ManifestName, "lib/x.py", "main.py", "tool.sh"}, paths)

	dst := t.TempDir()
	require.NoError(t, b.Unpack(dst))
	got, err := os.ReadFile(filepath.Join(dst, "main.py"))
	require.NoError(t, err)
	require.Equal(t, "import lib.x\n", string(got))
	require.Equal(t, os.FileMode(0o444), modeOf(t, dst, "lib/x.py"))
	require.Equal(t, os.FileMode(0o555), modeOf(t, dst, "tool.sh"))
	require.ErrorIs(t, b.Unpack(dst), os.ErrExist, "files are never overwritten")
}

func modeOf(t *testing.T, dir, name string) os.FileMode {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	require.NoError(t, err)
	return info.Mode().Perm()
}

func TestUnpackDoesNotFollowLinks(t *testing.T) {
	b, err := verify(forge(t, base(entry{name: "lib/x.py", content: "x"})...))
	require.NoError(t, err)
	outside, dst := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(dst, "lib")))
	require.Error(t, b.Unpack(dst))
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestPackIsDeterministic(t *testing.T) {
	files := map[string]string{ManifestName: minimal, "main.py": "x = 1\n", "a/b.py": "", "a.py": ""}
	one, two := writeTree(t, files), writeTree(t, files)
	require.NoError(t, os.Chtimes(filepath.Join(two, "main.py"), time.Unix(1, 0), time.Unix(1, 0)))
	require.NoError(t, os.Chmod(filepath.Join(two, "main.py"), 0o600))
	a, err := Pack(one)
	require.NoError(t, err)
	b, err := Pack(two)
	require.NoError(t, err)
	require.Equal(t, a.Digest, b.Digest)
}

func TestPackOneFile(t *testing.T) {
	dir := writeTree(t, map[string]string{"count_words.py": "def handler(x): return 1\n", "9.py": "", "x.txt": ""})
	b, err := Pack(filepath.Join(dir, "count_words.py"))
	require.NoError(t, err)
	require.Equal(t, "count-words", b.Manifest.Name)
	require.Equal(t, "count_words:handler", b.Manifest.Entrypoint)

	_, err = Pack(filepath.Join(dir, "9.py"))
	require.ErrorContains(t, err, "gives no function name")
	_, err = Pack(filepath.Join(dir, "x.txt"))
	require.ErrorContains(t, err, "name a folder")
	_, err = Pack(dir)
	require.ErrorContains(t, err, "there is no function.toml")
	_, err = Pack(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestVerifyRefuses(t *testing.T) {
	long := strings.Repeat("d/", MaxPathDepth) + "f"
	tests := []struct {
		name    string
		archive []byte
		want    string
	}{
		{"nothing", nil, "not gzip"},
		{"not gzip", []byte("hello"), "not gzip"},
		{"gzip of no tar", gzipped(t, bytes.Repeat([]byte("x"), 2000)), "reading the tar archive"},
		{"absolute", forge(t, base(entry{name: "/etc/passwd"})...), "absolute"},
		{"dot dot", forge(t, base(entry{name: "../x"})...), "leaves the bundle"},
		{"inner dot dot", forge(t, base(entry{name: "a/../../x"})...), "leaves the bundle"},
		{"dot", forge(t, base(entry{name: "./x"})...), "shortest form"},
		{"double slash", forge(t, base(entry{name: "a//x"})...), "shortest form"},
		{"backslash", forge(t, base(entry{name: `a\x`})...), "backslash"},
		{"control character", forge(t, base(entry{name: "a\nb"})...), "control character"},
		{"not UTF-8", forge(t, base(entry{name: "a\xff"})...), "not UTF-8"},
		{"too deep", forge(t, base(entry{name: long})...), "components"},
		{"path too long", forge(t, base(entry{name: strings.Repeat("a", MaxPathBytes+1)})...), "at most 240"},
		{"symbolic link", forge(t, base(entry{name: "l", typ: tar.TypeSymlink, link: "/etc"})...), "is a link"},
		{"hard link", forge(t, base(entry{name: "l", typ: tar.TypeLink, link: "main.py"})...), "is a link"},
		{"device", forge(t, base(entry{name: "d", typ: tar.TypeChar})...), "device"},
		{"fifo", forge(t, base(entry{name: "d", typ: tar.TypeFifo})...), "special entry"},
		{"absolute directory", forge(t, base(entry{name: "/d/", typ: tar.TypeDir})...), "absolute"},
		{"twice", forge(t, base(entry{name: "main.py"})...), "stands twice"},
		{"case", forge(t, base(entry{name: "MAIN.py"})...), "same on some systems"},
		{"case of directory", forge(t, base(entry{name: "a/x"}, entry{name: "A/y"})...), "same on some systems"},
		{"normal forms", forge(t, base(entry{name: "\u00e9.py"}, entry{name: "e\u0301.py"})...), "same on some systems"},
		{"file as directory", forge(t, base(entry{name: "main.py/x"})...), "stands twice"},
		{"directory as file", forge(t, base(entry{name: "a/x"}, entry{name: "a"})...), "stands twice"},
		{"no manifest", forge(t, entry{name: "main.py"}), "no function.toml at the root"},
		{"manifest below", forge(t, entry{name: "f/" + ManifestName, content: minimal}, entry{name: "f/main.py"}), "no function.toml at the root"},
		{"bad manifest", forge(t, entry{name: ManifestName, content: "nome = 1"}, entry{name: "main.py"}), "unknown field nome"},
		{"no entry file", forge(t, entry{name: ManifestName, content: minimal}), "no main.py and no main/__init__.py"},
		{"no script", forge(t, entry{name: ManifestName, content: minimal + "script = \"run.py\""}, entry{name: "main.py"}), "no run.py"},
		{"data after gzip", append(forge(t, base()...), "more"...), "after the end of the gzip"},
		{"second gzip member", append(forge(t, base()...), forge(t, base()...)...), "after the end of the gzip"},
		{"cut off", forge(t, base()...)[:60], "unexpected EOF"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := verify(test.archive)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func gzipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	zip, err := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	require.NoError(t, err)
	_, err = zip.Write(content)
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	return buf.Bytes()
}

func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", MaxUnpackedBytes)
	_, err := verify(forge(t, base(entry{name: "zero", content: zeros})...))
	require.ErrorContains(t, err, "more than 64Mi")

	// A tar trailer that never ends must be bounded as well.
	_, err = verify(gzipped(t, make([]byte, MaxUnpackedBytes+tarOverhead+2)))
	require.ErrorContains(t, err, "more than 64Mi")
}

func TestUnpackedAtTheLimit(t *testing.T) {
	left := MaxUnpackedBytes - len(minimal) - len("x")
	files := func(n int) []byte {
		return forge(t, entry{name: ManifestName, content: minimal}, entry{name: "main.py", content: "x"},
			entry{name: "zero", content: strings.Repeat("\x00", n)})
	}
	b, err := verify(files(left))
	require.NoError(t, err)
	require.Equal(t, int64(MaxUnpackedBytes), b.UnpackedBytes)
	_, err = verify(files(left + 1))
	require.ErrorContains(t, err, "more than 64Mi")
}

func TestFileCountAtTheLimit(t *testing.T) {
	files := base()
	for i := range MaxFiles - 2 {
		files = append(files, entry{name: fmt.Sprintf("f%d", i)})
	}
	_, err := verify(forge(t, files...))
	require.NoError(t, err)
	_, err = verify(forge(t, append(files, entry{name: "one-more"})...))
	require.ErrorContains(t, err, "more than 2000 files")
}

func TestArchiveSize(t *testing.T) {
	_, err := Verify(bytes.NewReader(make([]byte, MaxArchiveBytes+1)), -1)
	require.ErrorContains(t, err, "larger than 16Mi")
	_, err = Verify(bytes.NewReader(nil), MaxArchiveBytes+1)
	require.ErrorContains(t, err, "larger than 16Mi")
	archive := forge(t, base()...)
	_, err = Verify(bytes.NewReader(archive), int64(len(archive)+1))
	require.ErrorContains(t, err, "were announced")
	_, err = Verify(bytes.NewReader(archive), -1)
	require.NoError(t, err)
}

func TestBundleJSON(t *testing.T) {
	b, err := verify(forge(t, base()...))
	require.NoError(t, err)
	doc, err := json.Marshal(b)
	require.NoError(t, err)
	var back Bundle
	require.NoError(t, json.Unmarshal(doc, &back))
	require.Equal(t, b.Manifest, back.Manifest)
}

// TestPackedFoldersVerify: whatever Pack makes, Verify accepts and Unpack
// restores.
func TestPackedFoldersVerify(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sources := []source{{ManifestName, []byte(minimal), false}, {"main.py", nil, false}}
		want := map[string]string{}
		for i := range rapid.IntRange(0, 5).Draw(rt, "files") {
			content := rapid.SliceOf(rapid.Byte()).Draw(rt, "content")
			name := fmt.Sprintf("%s/%d", rapid.StringMatching(`[a-z]{1,9}(/[a-z]{1,9}){0,3}`).Draw(rt, "dir"), i)
			sources = append(sources, source{name, content, false})
			want[name] = string(content)
		}
		archive, err := write(sources)
		require.NoError(rt, err)
		b, err := verify(archive)
		require.NoError(rt, err)
		dst := t.TempDir()
		require.NoError(rt, b.Unpack(dst))
		for name, content := range want {
			got, err := os.ReadFile(filepath.Join(dst, name))
			require.NoError(rt, err)
			require.Equal(rt, content, string(got))
		}
	})
}

func FuzzVerify(f *testing.F) {
	f.Add(forge(f, base()...))
	f.Add(forge(f, base(entry{name: "../x"})...))
	f.Add(forge(f, base(entry{name: "l", typ: tar.TypeSymlink, link: "/etc"})...))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, archive []byte) {
		b, err := verify(archive)
		if err != nil {
			return
		}
		require.LessOrEqual(t, b.UnpackedBytes, int64(MaxUnpackedBytes))
		for _, file := range b.Files {
			require.NoError(t, checkPath(file.Path))
		}
		require.NoError(t, b.Unpack(t.TempDir()))
	})
}

// FuzzTar fuzzes below the compression, where mutations reach the headers.
func FuzzTar(f *testing.F) {
	for _, archive := range [][]byte{forge(f, base()...), forge(f, base(entry{name: strings.Repeat("é", 90)})...)} {
		zip, err := gzip.NewReader(bytes.NewReader(archive))
		require.NoError(f, err)
		var raw bytes.Buffer
		_, err = raw.ReadFrom(zip)
		require.NoError(f, err)
		f.Add(raw.Bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if b, err := verify(gzipped(t, raw)); err == nil {
			require.NoError(t, b.Unpack(t.TempDir()))
		}
	})
}
