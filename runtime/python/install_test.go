//go:build unix

package python

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// small is an interpreter of five files, which installs in no time.
func small(t *testing.T, version string) source {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte("the interpreter " + version))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	files := fstest.MapFS{
		"bin/python.gz": {Data: packed.Bytes()},
		"lib/a.py":      {Data: []byte("a = 1\n")},
		"lib/empty":     {Data: nil},
		"lib/json/b.py": {Data: []byte("b = 2\n")},
		"lib/pruned.py": {Data: []byte("nobody needs this\n")},
	}
	text := fmt.Sprintf("version %s\ninterpreter bin/python\n", version)
	for _, f := range []struct{ mode, path, data string }{
		{"555", "bin/python", "the interpreter " + version},
		{"444", "lib/__pycache__/a.x.pyc", "compiled a = 1\n"},
		{"444", "lib/a.py", "a = 1\n"},
		{"444", "lib/empty", ""},
		{"444", "lib/json/__pycache__/b.x.pyc", "compiled b = 2\n"},
		{"444", "lib/json/b.py", "b = 2\n"},
	} {
		sum := sha256.Sum256([]byte(f.data))
		text += fmt.Sprintf("%s %s %d %s\n", hex.EncodeToString(sum[:]), f.mode, len(f.data), f.path)
	}
	m, err := parseManifest(text)
	require.NoError(t, err)
	return source{files: files, manifest: m, compile: compileSmall}
}

func compileSmall(_ context.Context, _, tree, out string, sources []string, done func()) error {
	for _, name := range sources {
		text, err := os.ReadFile(filepath.Join(tree, name))
		if err != nil {
			return err
		}
		dir := filepath.Join(out, path.Dir(name), "__pycache__")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, strings.TrimSuffix(path.Base(name), ".py")+".x.pyc"), append([]byte("compiled "), text...), 0o600); err != nil {
			return err
		}
		done()
	}
	return nil
}

func installed(t *testing.T, i installer) Tree {
	t.Helper()
	tree, err := i.install(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Release()) })
	requireWhole(t, i)
	return tree
}

// requireWhole compares the tree with its manifest and looks for what should not lie beside it.
func requireWhole(t *testing.T, i installer) {
	t.Helper()
	root, err := os.OpenRoot(i.tree())
	require.NoError(t, err)
	defer root.Close()
	found, err := i.manifest.inspect(t.Context(), root)
	require.NoError(t, err)
	require.Empty(t, found.paths())
	beside, err := filepath.Glob(filepath.Join(i.dir, tmpPrefix+"*"))
	require.NoError(t, err)
	require.Empty(t, beside)
}

func TestInstallIsCheapTheSecondTime(t *testing.T) {
	var calls, last, all int64
	i := installer{source: small(t, "3.1"), dir: filepath.Join(t.TempDir(), "a", "python"), report: func(done, total int64) {
		require.GreaterOrEqual(t, done, last)
		calls, last, all = calls+1, done, total
	}}
	first := installed(t, i)
	var sum int64
	for _, e := range i.manifest.Entries {
		sum += e.Size
	}
	require.Equal(t, sum, all)
	require.Equal(t, all, last)
	before := calls
	second := installed(t, i)
	require.Equal(t, before, calls, "nothing to unpack, nothing to tell")
	require.Equal(t, first.Dir, second.Dir)
	require.Equal(t, []string{first.Dir}, first.Paths)
	require.Equal(t, i.manifest.Digest, first.Digest)
	require.Equal(t, "embedded:"+i.manifest.Digest[:16], first.Label())
	require.NoFileExists(t, filepath.Join(first.Dir, "lib", "pruned.py"))

	info, err := os.Stat(i.dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(modePrivate), info.Mode().Perm(), "nobody else writes or lists")
	for _, folder := range []string{first.Dir, filepath.Join(first.Dir, "lib", "json")} {
		info, err = os.Stat(folder)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o755), info.Mode().Perm(), "a sandbox that got here by a bind mount can read")
	}
}

func TestTamperedTreeIsPutRight(t *testing.T) {
	i := installer{source: small(t, "3.1"), dir: filepath.Join(t.TempDir(), "python")}
	tree := installed(t, i)
	elsewhere := t.TempDir()
	in := func(name string) string { return filepath.Join(tree.Dir, filepath.FromSlash(name)) }
	replace := func(name, text string) error {
		return errors.Join(os.Remove(in(name)), os.WriteFile(in(name), []byte(text), 0o444))
	}
	for name, c := range map[string]struct {
		tamper   func() error
		repaired []string
	}{
		"other bytes, same size": {func() error { return replace("lib/a.py", "a = 2\n") }, []string{"lib/a.py"}},
		"longer":                 {func() error { return replace("lib/a.py", "a = 1\nimport evil\n") }, []string{"lib/a.py"}},
		"cut off":                {func() error { return replace("bin/python", "the int") }, []string{"bin/python"}},
		"empty is not longer":    {func() error { return replace("lib/empty", "x") }, []string{"lib/empty"}},
		"compiled code":          {func() error { return replace("lib/__pycache__/a.x.pyc", "compiled a = 9\n") }, []string{"lib/__pycache__/a.x.pyc"}},
		"may be written":         {func() error { return os.Chmod(in("lib/a.py"), 0o644) }, []string{"lib/a.py"}},
		"cannot run":             {func() error { return os.Chmod(in("bin/python"), 0o444) }, []string{"bin/python"}},
		"set-user-ID":            {func() error { return os.Chmod(in("bin/python"), 0o555|fs.ModeSetuid) }, []string{"bin/python"}},
		"gone":                   {func() error { return os.Remove(in("lib/json/b.py")) }, []string{"lib/json/b.py"}},
		"a folder gone":          {func() error { return os.RemoveAll(in("lib/json")) }, []string{"lib/json/__pycache__/b.x.pyc", "lib/json/b.py"}},
		"a file too much":        {func() error { return os.WriteFile(in("lib/site.py"), []byte("evil"), 0o444) }, []string{"lib/site.py"}},
		"a folder too much":      {func() error { return os.MkdirAll(in("lib/evil/deep"), 0o755) }, []string{"lib/evil"}},
		"a pipe":                 {func() error { return syscall.Mkfifo(in("lib/pipe"), 0o444) }, []string{"lib/pipe"}},
		"a link instead":         {func() error { return errors.Join(os.Remove(in("lib/a.py")), os.Symlink("/etc/passwd", in("lib/a.py"))) }, []string{"lib/a.py", "lib/a.py"}},
		"a link to the very file": {func() error {
			return errors.Join(os.Rename(in("lib/a.py"), elsewhere+"/a.py"), os.Symlink(elsewhere+"/a.py", in("lib/a.py")))
		}, []string{"lib/a.py", "lib/a.py"}},
		"a folder elsewhere": {
			func() error {
				return errors.Join(os.Rename(in("lib/json"), elsewhere+"/json"), os.Symlink(elsewhere+"/json", in("lib/json")))
			},
			[]string{"lib/json", "lib/json/__pycache__/b.x.pyc", "lib/json/b.py"},
		},
		"a file where a folder was": {
			func() error {
				return errors.Join(os.RemoveAll(in("lib/json")), os.WriteFile(in("lib/json"), nil, 0o444))
			},
			[]string{"lib/json", "lib/json/__pycache__/b.x.pyc", "lib/json/b.py"},
		},
		"a folder where a file was": {func() error { return errors.Join(os.Remove(in("lib/a.py")), os.Mkdir(in("lib/a.py"), 0o755)) }, []string{"lib/a.py", "lib/a.py"}},
		"the root closed":           {func() error { return os.Chmod(tree.Dir, 0o700) }, nil},
		"the tree is a file":        {func() error { return errors.Join(os.RemoveAll(tree.Dir), os.WriteFile(tree.Dir, nil, 0o600)) }, []string{"."}},
		"the tree is a link": {func() error {
			return errors.Join(os.Rename(tree.Dir, elsewhere+"/tree"), os.Symlink(elsewhere+"/tree", tree.Dir))
		}, []string{"."}},
		"everything gone": {func() error { return os.RemoveAll(tree.Dir) }, nil},
	} {
		require.NoError(t, c.tamper(), name)
		got := installed(t, i)
		slices.Sort(got.Repaired)
		require.Equal(t, c.repaired, got.Repaired, name)
		info, err := os.Stat(tree.Dir)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o755), info.Mode().Perm(), name)
	}
	require.FileExists(t, elsewhere+"/json/b.py", "what a link leads to is left alone")
}

func TestHalfUnpackedTreeIsSweptOrMended(t *testing.T) {
	i := installer{source: small(t, "3.1"), dir: filepath.Join(t.TempDir(), "python")}
	ctx, cancel := context.WithCancelCause(t.Context())
	died := errors.New("the machine lost power")
	i.compile = func(context.Context, string, string, string, []string, func()) error { cancel(died); return died }
	_, err := i.install(ctx)
	require.ErrorIs(t, err, died)
	require.NoDirExists(t, i.tree(), "a tree in its place is whole")

	// What a killed process leaves, and a tree whose blocks never reached the disk.
	require.NoError(t, os.MkdirAll(filepath.Join(i.dir, "tmp-123", "tree", "lib"), 0o700))
	require.NoError(t, os.MkdirAll(i.tree(), 0o755))
	i.compile = compileSmall
	require.Len(t, installed(t, i).Repaired, len(i.manifest.Entries))
}

func TestManyInstallAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "python")
	from := small(t, "3.1")
	var compiled atomic.Int64
	from.compile = func(ctx context.Context, interpreter, tree, out string, sources []string, done func()) error {
		compiled.Add(1)
		return compileSmall(ctx, interpreter, tree, out, sources, done)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			tree, err := installer{source: from, dir: dir}.install(t.Context())
			if err == nil {
				err = tree.Release()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	requireWhole(t, installer{source: from, dir: dir})
	require.EqualValues(t, 1, compiled.Load(), "one unpacks, the others wait and find it done")
}

func TestWaitingForAnotherProcessEndsWithTheContext(t *testing.T) {
	i := installer{source: small(t, "3.1"), dir: filepath.Join(t.TempDir(), "python")}
	inside, release := make(chan struct{}), make(chan struct{})
	slow := i
	slow.compile = func(ctx context.Context, interpreter, tree, out string, sources []string, done func()) error {
		close(inside)
		<-release
		return compileSmall(ctx, interpreter, tree, out, sources, done)
	}
	var first sync.WaitGroup
	first.Go(func() {
		if tree, err := slow.install(t.Context()); err != nil || tree.Release() != nil {
			t.Error(err)
		}
	})
	<-inside
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := i.install(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "waiting for another process")
	close(release)
	first.Wait()
}

func TestOldVersionsGoWhenNobodyUsesThem(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "python")
	old, next := installer{source: small(t, "3.1"), dir: dir}, installer{source: small(t, "3.2"), dir: dir}
	used, err := old.install(t.Context())
	require.NoError(t, err)
	installed(t, next)
	requireWhole(t, old) // an agent of the old version still runs
	require.NoError(t, used.Release())
	installed(t, next)
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	var left []string
	for _, n := range names {
		left = append(left, n.Name())
	}
	require.Equal(t, []string{next.name(), next.name() + useSuffix, lockName}, left)
}

func TestDamagedProgramIsNoticed(t *testing.T) {
	for name, damage := range map[string]func(s *source){
		"other bytes": func(s *source) { s.files.(fstest.MapFS)["lib/a.py"].Data = []byte("a = 3\n") },
		"too long":    func(s *source) { s.files.(fstest.MapFS)["lib/a.py"].Data = []byte("a = 1\n\n") },
		"missing":     func(s *source) { delete(s.files.(fstest.MapFS), "lib/json/b.py") },
		"no gzip":     func(s *source) { s.files.(fstest.MapFS)["bin/python.gz"].Data = []byte("hello") },
		"cut gzip":    func(s *source) { f := s.files.(fstest.MapFS)["bin/python.gz"]; f.Data = f.Data[:len(f.Data)-9] },
		"compiles to something else": func(s *source) {
			s.compile = func(ctx context.Context, interpreter, tree, out string, sources []string, done func()) error {
				return errors.Join(compileSmall(ctx, interpreter, tree, out, sources, done),
					os.WriteFile(filepath.Join(out, "lib", "__pycache__", "a.x.pyc"), []byte("compiled a = 7\n"), 0o600))
			}
		},
	} {
		from := small(t, "3.1")
		damage(&from)
		i := installer{source: from, dir: filepath.Join(t.TempDir(), "python")}
		_, err := i.install(t.Context())
		require.ErrorIs(t, err, errDamaged, name)
		require.NoDirExists(t, i.tree(), name)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for err, want := range map[error]string{
		&fs.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}: "needs 80 MiB: make room, or name a folder on another disk with OSTRAKA_PYTHON_DIR",
		&fs.PathError{Op: "write", Path: "/x", Err: syscall.EDQUOT}: "needs 80 MiB: make room, or name a folder on another disk with OSTRAKA_PYTHON_DIR",
		&fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EROFS}:  "name a folder that can be written with OSTRAKA_PYTHON_DIR",
		&fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EACCES}: "make it a folder of the user who runs this program",
	} {
		i := installer{source: small(t, "3.1"), dir: filepath.Join(t.TempDir(), "python")}
		i.compile = func(context.Context, string, string, string, []string, func()) error { return err }
		_, got := i.install(t.Context())
		require.ErrorIs(t, got, err)
		require.ErrorContains(t, got, want)
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := installer{source: small(t, "3.1"), dir: file}.install(t.Context())
	require.ErrorContains(t, err, file)
}

func TestPrivateDirectory(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o777))
	require.NoError(t, makePrivate(open))
	info, err := os.Stat(open)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(modePrivate), info.Mode().Perm())

	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(open, link))
	require.ErrorContains(t, makePrivate(link), "is no folder")

	foreign := "/usr" // root's, which no ordinary user may use
	if os.Geteuid() == 0 {
		foreign = filepath.Join(t.TempDir(), "foreign")
		require.NoError(t, os.Mkdir(foreign, 0o700))
		require.NoError(t, os.Chown(foreign, 65534, 65534))
	}
	require.ErrorContains(t, makePrivate(foreign), "belongs to user")
}

func TestManifestIsRead(t *testing.T) {
	const head = "version 3.1\ninterpreter bin/python\n"
	sum := strings.Repeat("0", 64)
	for text, want := range map[string]string{
		"":                                   "not complete",
		head:                                 "not complete",
		head + sum + " 444 1":                "no line of a manifest",
		head + sum + " 9 1 a":                "invalid syntax",
		head + sum + " 444 x a":              "invalid syntax",
		head + sum[1:] + " 444 1 a":          "no SHA-256",
		head + sum + " 444 1 ../a":           "no path below the tree",
		head + sum + " 444 1 /a":             "no path below the tree",
		head + sum + " 444 1 .":              "no path below the tree",
		head + "hello\n" + sum + " 444 1 a.": "no line of a manifest",
	} {
		_, err := parseManifest(text)
		require.ErrorContains(t, err, want, text)
	}
	m, err := parseManifest(head + sum + " 444 1 a file\n")
	require.NoError(t, err)
	require.Equal(t, "a file", m.Entries[0].Path)
	require.Equal(t, "lib/json/b.py", Entry{Path: "lib/json/__pycache__/b.cpython-314.pyc"}.source())
}
