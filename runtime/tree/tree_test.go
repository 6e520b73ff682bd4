package tree

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var about = Manifest{
	Platform: Platform, Python: "3.11.2", Interpreter: "bin/python3.11", Loader: "lib/native/ld.so", Libraries: []string{"lib/native"},
	Packages: []string{"lib/python3.11/site-packages"},
}

// folder writes a small tree.
func folder(t *testing.T, more map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"bin/python3.11": "program", "lib/native/ld.so": "loader", "lib/python3.11/os.py": "pass\n",
		"lib/python3.11/site-packages/p/__init__.py": "", "lib/python3.11/site-packages/q.py": strings.Repeat("q", cutAfter),
	}
	for name, text := range more {
		files[name] = text
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o600))
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "bin/python3.11"), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(dir, "lib/native/ld.so"), 0o755))
	require.NoError(t, os.Symlink("../../bin/python3.11", filepath.Join(dir, "lib/native/python")))
	return dir
}

// packed are the objects of a tree by their digests.
type packed map[string][]byte

func (p packed) fetch(_ context.Context, digest string) (io.ReadCloser, error) {
	data, there := p[digest]
	if !there {
		return nil, os.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func pack(t *testing.T, dir string) (packed, Manifest, string) {
	t.Helper()
	objects := packed{}
	m, err := Pack(t.Context(), dir, about, func(p Piece, data []byte) error {
		objects[p.Digest] = bytes.Clone(data)
		return nil
	})
	require.NoError(t, err)
	text, err := m.Encode()
	require.NoError(t, err)
	digest := DigestOf(text)
	objects[digest] = text
	return objects, m, digest
}

func TestTheSameTreeIsTheSameDigest(t *testing.T) {
	_, m, one := pack(t, folder(t, nil))
	other := folder(t, nil)
	old := time.Unix(1, 0)
	require.NoError(t, os.Chtimes(filepath.Join(other, "bin/python3.11"), old, old))
	require.NoError(t, os.Chmod(filepath.Join(other, "lib/python3.11/os.py"), 0o644))
	_, _, two := pack(t, other)
	require.Equal(t, one, two, "neither times nor modes but that to be executed")
	require.NoError(t, os.Chmod(filepath.Join(other, "lib/python3.11/os.py"), 0o755))
	_, _, three := pack(t, other)
	require.NotEqual(t, one, three)
	text, err := m.Encode()
	require.NoError(t, err)
	again, err := Parse(text)
	require.NoError(t, err)
	require.Equal(t, m, again)
}

// TestAChangeMovesItsOwnPieces has a package grow: the pieces of the next one stay.
func TestAChangeMovesItsOwnPieces(t *testing.T) {
	more := map[string]string{
		"lib/python3.11/site-packages/r/big": strings.Repeat("r", MaxPieceBytes+5), "lib/python3.11/site-packages/s/big": strings.Repeat("s", MaxPieceBytes+5),
	}
	before, _, _ := pack(t, folder(t, more))
	more["lib/python3.11/site-packages/r/big"] += "r"
	after, m, digest := pack(t, folder(t, more))
	var moved []string
	for d := range after {
		if before[d] == nil && d != digest {
			moved = append(moved, d)
		}
	}
	require.Len(t, moved, 1, "the end of r alone")
	require.Greater(t, len(m.Pieces), 3)
}

func TestWhatIsPackedIsChecked(t *testing.T) {
	link := func(to string) func(dir string) error {
		return func(dir string) error { return os.Symlink(to, filepath.Join(dir, "bin/x")) }
	}
	for name, c := range map[string]struct {
		spoil func(dir string) error
		says  string
	}{
		"pipe":              {func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "bin/pipe"), 0o600) }, "a device or another special file"},
		"link out":          {link("../../etc/passwd"), "not plainly below the tree"},
		"absolute link":     {link("/etc/passwd"), "not plainly below the tree"},
		"link to a link":    {link("../lib/native/python"), "no file or folder of the tree"},
		"link nowhere":      {link("nothing"), "no file or folder of the tree"},
		"control character": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "a\nb"), nil, 0o600) }, "control character"},
		"no interpreter":    {func(dir string) error { return os.Remove(filepath.Join(dir, "lib/native/ld.so")) }, "is no program of the tree"},
	} {
		dir := folder(t, nil)
		require.NoError(t, c.spoil(dir))
		_, err := Pack(t.Context(), dir, about, func(Piece, []byte) error { return nil })
		require.ErrorContains(t, err, c.says, name)
	}
}

func TestHostileManifests(t *testing.T) {
	_, good, _ := pack(t, folder(t, nil))
	for name, c := range map[string]struct {
		spoil func(m *Manifest)
		says  string
	}{
		"format":            {func(m *Manifest) { m.Format = 2 }, "format 2"},
		"platform":          {func(m *Manifest) { m.Platform = "windows/amd64" }, "runtimes are for linux/amd64"},
		"python":            {func(m *Manifest) { m.Python = "2.7" }, "or later is needed"},
		"old python":        {func(m *Manifest) { m.Python = "3.8" }, "or later is needed"},
		"traversal":         {func(m *Manifest) { m.Entries[0].Path = "../x" }, "not a plain one"},
		"inner traversal":   {func(m *Manifest) { m.Entries[0].Path = "a/../../x" }, "not a plain one"},
		"absolute":          {func(m *Manifest) { m.Entries[0].Path = "/bin/sh" }, "not a plain one"},
		"long path":         {func(m *Manifest) { m.Entries[0].Path = strings.Repeat("a", MaxPathBytes+1) }, "at most 240 are allowed"},
		"deep path":         {func(m *Manifest) { m.Entries[0].Path = strings.Repeat("a/", MaxPathDepth) + "a" }, "more than 24 components"},
		"twice":             {func(m *Manifest) { m.Entries[1].Path = m.Entries[0].Path }, "not in their order"},
		"file in a file":    {func(m *Manifest) { m.Entries[1].Path = m.Entries[0].Path + "/x" }, "which is no folder"},
		"link out":          {func(m *Manifest) { m.Entries[2].Link = "../../../x" }, "not plainly below the tree"},
		"link climbs later": {func(m *Manifest) { m.Entries[2].Link = "../native/../../bin/python3.11" }, "not plainly below the tree"},
		"link with a size":  {func(m *Manifest) { m.Entries[2].Executable = true }, "what only files have"},
		"library elsewhere": {func(m *Manifest) { m.Libraries = []string{"usr/lib"} }, "no folder of the tree"},
		"library above":     {func(m *Manifest) { m.Libraries = []string{".."} }, "no folder of the tree"},
		"program elsewhere": {func(m *Manifest) { m.Loader = "/lib64/ld.so" }, "no program of the tree"},
		"program is a link": {func(m *Manifest) { m.Interpreter = m.Entries[2].Path }, "no program of the tree"},
		"digest":            {func(m *Manifest) { m.Pieces[0].Digest = "../x" }, "is no digest"},
		"huge piece":        {func(m *Manifest) { m.Pieces[0].Size = MaxPieceBytes + 1 }, "1 to 4194304 are allowed"},
		"empty piece":       {func(m *Manifest) { m.Pieces[0].Size = 0 }, "1 to 4194304 are allowed"},
		"negative file":     {func(m *Manifest) { m.Entries[0].Size = -1 }, "at most 1073741824 are allowed"},
		"huge file":         {func(m *Manifest) { m.Entries[0].Size = MaxTreeBytes + 1 }, "at most 1073741824 are allowed"},
		"huge files":        {func(m *Manifest) { m.Entries[0].Size, m.Entries[1].Size = MaxTreeBytes, 1 }, "more than 1073741824 bytes"},
		"fewer bytes":       {func(m *Manifest) { m.Entries[0].Size++ }, "the pieces have"},
		"many pieces":       {func(m *Manifest) { m.Pieces = make([]Piece, MaxPieces+1) }, "at most 4096 are allowed"},
		"many files":        {func(m *Manifest) { m.Entries = make([]Entry, MaxEntries+1); m.Pieces = nil }, "at most 50000 are allowed"},
	} {
		m := good
		m.Entries, m.Pieces = append([]Entry{}, good.Entries...), append([]Piece{}, good.Pieces...)
		c.spoil(&m)
		text, err := m.Encode()
		require.NoError(t, err)
		_, err = Parse(text)
		require.ErrorContains(t, err, c.says, name)
	}
	text, err := good.Encode()
	require.NoError(t, err)
	for _, other := range []string{" " + string(text), string(text) + "{}", strings.Replace(string(text), "{", `{"more":1,`, 1), "null", ""} {
		_, err := Parse([]byte(other))
		require.Error(t, err, "%.40q", other)
	}
	_, err = Parse(make([]byte, MaxManifestBytes+1))
	require.ErrorContains(t, err, "more than 16777216 bytes")
}

// TestATreeThatIsTooLarge is refused before it is read, and the error says what is large; at the limit it is not.
func TestATreeThatIsTooLarge(t *testing.T) {
	dir := folder(t, nil)
	_, m, _ := pack(t, dir)
	large := filepath.Join(dir, "lib/python3.11/site-packages/large.bin")
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, MaxTreeBytes-m.Bytes()+1)) // a file of holes takes no disk
	_, err := Pack(t.Context(), dir, about, func(Piece, []byte) error { t.Fatal("it was read"); return nil })
	require.ErrorContains(t, err, "the files have more than 1073741824 bytes, 1073741825: lib/python3.11/site-packages/large.bin has 1073")
	require.ErrorContains(t, err, "leave packages out")
	require.NoError(t, checkBytes([]Entry{{Path: "a", Size: MaxTreeBytes}}))
}

// TestLongListsAreNotRead has the largest manifest take a few times its own size in memory, whatever is in it.
func TestLongListsAreNotRead(t *testing.T) {
	for list, value := range map[string]string{"entries": "{}", "pieces": "{}", "libraries": `""`, "packages": `""`} {
		begin := fmt.Sprintf(`{"%s":[`, list)
		n := (MaxManifestBytes - len(begin) - len("{}]}")) / len("{},")
		text := []byte(begin + strings.Repeat(value+",", n) + value + "]}")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(text)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, "reading a runtime's manifest: ", list)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(6*MaxManifestBytes), list)
	}
}

// TestFoldersOfATreeAreCounted at the limit and one past it: a file of no bytes is enough for two dozen of them.
func TestFoldersOfATreeAreCounted(t *testing.T) {
	_, m, _ := pack(t, folder(t, nil)) // has bin, lib, lib/native, lib/python3.11, site-packages in that, and a package
	for i := range MaxFolders - 6 {
		m.Entries = append(m.Entries, Entry{Path: fmt.Sprintf("z%05d/f", i)})
	}
	text, err := m.Encode()
	require.NoError(t, err)
	_, err = Parse(text)
	require.NoError(t, err)
	m.Entries = append(m.Entries, Entry{Path: "zz/f"})
	text, err = m.Encode()
	require.NoError(t, err)
	_, err = Parse(text)
	require.ErrorContains(t, err, "more than 10000 folders")
}

// TestWhatACacheCounts is the same for a tree that is held and for one that an earlier process has left.
func TestWhatACacheCounts(t *testing.T) {
	objects, m, digest := pack(t, folder(t, nil))
	dir := t.TempDir()
	c := newTestCache(t, dir, MaxTreeBytes)
	_, release, err := c.Get(t.Context(), digest, objects.fetch)
	require.NoError(t, err)
	release()
	want := m.Bytes() + 4096*int64(len(m.Entries)+6)
	require.Equal(t, want, c.used[digest].bytes)
	require.Equal(t, want, newTestCache(t, dir, MaxTreeBytes).bytesOf(digest))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":1,"platform":"linux/amd64","python":"3.11.2","interpreter":"p","loader":"p","libraries":[],"packages":[],"entries":[{"path":"p","executable":true}],"pieces":[]}` + "\n"))
	f.Add([]byte(`{"entries":[{"path":"a","link":"../b"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err != nil {
			return
		}
		again, err := m.Encode()
		require.NoError(t, err)
		require.Equal(t, data, again, "what parses prints back")
		for _, e := range m.Entries {
			require.True(t, filepath.IsLocal(e.Path))
			require.True(t, e.Link == "" || filepath.IsLocal(filepath.Join(filepath.Dir(e.Path), e.Link)))
		}
	})
}

func newTestCache(t *testing.T, dir string, most int64) *Cache {
	t.Helper()
	if Runs() == "" {
		t.Fatalf("these tests need %s with AVX2", Platform)
	}
	c, err := NewCache(dir, most, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return c
}

func TestCacheUnpacksOnceAndFindsChanges(t *testing.T) {
	objects, m, digest := pack(t, folder(t, nil))
	dir := t.TempDir()
	fetched := 0
	fetch := func(ctx context.Context, d string) (io.ReadCloser, error) {
		fetched++
		return objects.fetch(ctx, d)
	}
	c := newTestCache(t, dir, MaxTreeBytes)
	for range 2 {
		at, release, err := c.Get(t.Context(), digest, fetch)
		require.NoError(t, err)
		require.Equal(t, "runtime:"+digest[:16], at.Label())
		program, before := at.Program()
		require.Equal(t, filepath.Join(at.Dir, "lib/native/ld.so"), program)
		require.Contains(t, before, filepath.Join(at.Dir, "bin/python3.11"))
		info, err := os.Stat(at.Interpreter)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o555), info.Mode())
		release()
	}
	require.Equal(t, 1+len(m.Pieces), fetched, "the second time nothing is fetched")

	c = newTestCache(t, dir, MaxTreeBytes) // another process finds what lies there
	_, release, err := c.Get(t.Context(), digest, fetch)
	require.NoError(t, err)
	release()
	require.Equal(t, 1+len(m.Pieces), fetched)

	changed := filepath.Join(dir, digest, treeName, "lib/python3.11/os.py")
	require.NoError(t, os.Chmod(changed, 0o644))
	require.NoError(t, os.WriteFile(changed, []byte("fail\n"), 0o600))
	c = newTestCache(t, dir, MaxTreeBytes)
	_, release, err = c.Get(t.Context(), digest, fetch)
	require.NoError(t, err)
	release()
	require.Equal(t, 2*(1+len(m.Pieces)), fetched, "what was changed is fetched again")
	text, err := os.ReadFile(changed)
	require.NoError(t, err)
	require.Equal(t, "pass\n", string(text))
}

func TestCacheRefusesWrongBytes(t *testing.T) {
	objects, m, digest := pack(t, folder(t, nil))
	c := newTestCache(t, t.TempDir(), MaxTreeBytes)
	objects[m.Pieces[0].Digest][0] ^= 1
	_, _, err := c.Get(t.Context(), digest, objects.fetch)
	require.ErrorIs(t, err, errPiece)
	objects[m.Pieces[0].Digest] = append(objects[m.Pieces[0].Digest], 0)
	_, _, err = c.Get(t.Context(), digest, objects.fetch)
	require.ErrorIs(t, err, errPiece)
	objects[digest] = append(objects[digest], ' ')
	_, _, err = c.Get(t.Context(), digest, objects.fetch)
	require.ErrorIs(t, err, errPiece)
	_, _, err = c.Get(t.Context(), "../x", objects.fetch)
	require.ErrorContains(t, err, "is no digest")
	left, err := os.ReadDir(c.dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestCacheKeepsWithinItsBytes removes what was not used for longest, and nothing that somebody uses.
func TestCacheKeepsWithinItsBytes(t *testing.T) {
	one, m, first := pack(t, folder(t, map[string]string{"lib/python3.11/a": "1"}))
	two, _, second := pack(t, folder(t, map[string]string{"lib/python3.11/a": "2"}))
	c := newTestCache(t, t.TempDir(), m.diskBytes())
	_, release, err := c.Get(t.Context(), first, one.fetch)
	require.NoError(t, err)
	_, _, err = c.Get(t.Context(), second, two.fetch)
	require.ErrorIs(t, err, ErrNoRoom, "the first is in use")
	release()
	_, release, err = c.Get(t.Context(), second, two.fetch)
	require.NoError(t, err)
	release()
	require.NoDirExists(t, filepath.Join(c.dir, first))
	c.Limit(m.diskBytes() - 1)
	_, _, err = c.Get(t.Context(), first, one.fetch)
	require.ErrorIs(t, err, ErrNoRoom)
}
