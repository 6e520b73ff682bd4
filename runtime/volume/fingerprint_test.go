//go:build unix

package volume

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// write writes a file that was changed long enough ago for its digest to be kept.
func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, old, old))
}

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open("ref", dir, NewBlocklist())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

func fingerprint(t *testing.T, dir string, known Known) (string, Known) {
	t.Helper()
	got, now, err := open(t, dir).Fingerprint(t.Context(), known)
	require.NoError(t, err)
	require.NoError(t, CheckFingerprint(got))
	return got, now
}

// Two folders have the same fingerprint where names, sizes and bytes are the same, and no other.
func TestFingerprint(t *testing.T) {
	make := func(change func(dir string)) string {
		dir := place(t)
		write(t, filepath.Join(dir, "a.txt"), "one")
		write(t, filepath.Join(dir, "sub", "b.txt"), "two")
		require.NoError(t, os.Symlink("a.txt", filepath.Join(dir, "link")))
		change(dir)
		got, _ := fingerprint(t, dir, nil)
		return got
	}
	same := make(func(string) {})
	require.Equal(t, same, make(func(dir string) { require.NoError(t, os.Chmod(filepath.Join(dir, "a.txt"), 0o644)) }))
	seen := map[string]bool{same: true}
	for name, change := range map[string]func(dir string){
		"bytes": func(dir string) { write(t, filepath.Join(dir, "a.txt"), "eno") },
		"size":  func(dir string) { write(t, filepath.Join(dir, "a.txt"), "one ") },
		"name": func(dir string) {
			require.NoError(t, os.Rename(filepath.Join(dir, "a.txt"), filepath.Join(dir, "c.txt")))
		},
		"folder": func(dir string) { require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755)) },
		"more":   func(dir string) { write(t, filepath.Join(dir, "z"), "") },
		"less":   func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "sub", "b.txt"))) },
		"link": func(dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "link")))
			require.NoError(t, os.Symlink("sub", filepath.Join(dir, "link")))
		},
	} {
		got := make(change)
		require.False(t, seen[got], name)
		seen[got] = true
	}
}

// What is known of a file is believed while inode, size and time are the same, and no longer.
func TestFingerprintReadsWhatHasChanged(t *testing.T) {
	dir := place(t)
	path := filepath.Join(dir, "a.txt")
	write(t, path, "one")
	first, known := fingerprint(t, dir, nil)
	require.Contains(t, known, "a.txt")

	lie := Known{"a.txt": known["a.txt"]}
	lied := lie["a.txt"]
	lied.SHA256 = "0000000000000000000000000000000000000000000000000000000000000000"
	lie["a.txt"] = lied
	believed, _ := fingerprint(t, dir, lie)
	require.NotEqual(t, first, believed)

	write(t, path, "eno") // of the same size, and as old
	require.NoError(t, os.Chtimes(path, time.Now(), time.Now().Add(-time.Minute)))
	second, _ := fingerprint(t, dir, known)
	require.NotEqual(t, first, second)

	require.NoError(t, os.WriteFile(path, []byte("now"), 0o600))
	_, now := fingerprint(t, dir, known)
	require.NotContains(t, now, "a.txt", "a file that was changed a moment ago is read again")
}

// A file that was written in place and had its time set back is read again: the kernel's own time of change tells.
func TestFingerprintReadsAFileWhoseTimeWasSetBack(t *testing.T) {
	path := filepath.Join(place(t), "a.txt")
	write(t, path, "one")
	first, known := fingerprint(t, filepath.Dir(path), nil)
	info, err := os.Stat(path)
	require.NoError(t, err)
	before := changed(info)
	for now := before; now.Equal(before); { // clocks of file systems are coarse
		require.NoError(t, os.WriteFile(path, []byte("eno"), 0o600))
		require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		after, err := os.Stat(path)
		require.NoError(t, err)
		require.True(t, after.ModTime().Equal(info.ModTime()))
		now = changed(after)
	}
	second, _ := fingerprint(t, filepath.Dir(path), known)
	require.NotEqual(t, first, second)
}

func TestFingerprintThatThereIsNot(t *testing.T) {
	dir := place(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	_, _, err := open(t, dir).Fingerprint(t.Context(), nil)
	require.ErrorContains(t, err, `"pipe" is neither a file nor a folder nor a link`)

	dir = place(t)
	write(t, filepath.Join(dir, "a"), "one")
	ended, end := context.WithCancel(t.Context())
	end()
	_, _, err = open(t, dir).Fingerprint(ended, nil)
	require.ErrorIs(t, err, context.Canceled)
}

// At the limit there is one, and one past it there is none. Nobody makes so many files: sparse ones and a count stand for them.
func TestFingerprintLimits(t *testing.T) {
	dir := place(t)
	write(t, filepath.Join(dir, "a"), "one")
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	p := printing{root: root, now: Known{}, sum: newSum(), began: time.Now(), entries: MaxEntries - 1}
	require.NoError(t, p.add(t.Context(), "a", entries[0]))
	require.ErrorIs(t, p.add(t.Context(), "a", entries[0]), ErrTooLarge)

	p = printing{root: root, now: Known{}, sum: newSum(), began: time.Now(), bytes: MaxBytes - 3}
	require.NoError(t, p.add(t.Context(), "a", entries[0]))
	p.bytes = MaxBytes - 2
	require.ErrorIs(t, p.add(t.Context(), "a", entries[0]), ErrTooLarge)
}
