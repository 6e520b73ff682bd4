package volume

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Nothing may be mounted below a folder: another file system no more than a folder of the same one.
func TestOpenRefusesWhatIsMountedBelow(t *testing.T) {
	if os.Geteuid() != 0 {
		return // who cannot mount
	}
	base := place(t)
	dir, other := filepath.Join(base, `my "data"`), filepath.Join(base, "other")
	deep := filepath.Join(dir, "a b", "c\\d")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	require.NoError(t, os.Mkdir(other, 0o755))
	for name, mount := range map[string]func(at string) error{
		"tmpfs": func(at string) error { return unix.Mount("tmpfs", at, "tmpfs", 0, "size=64k") },
		"bind":  func(at string) error { return unix.Mount(other, at, "", unix.MS_BIND, "") },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, open(t, dir).check(NewBlocklist()))
			require.NoError(t, mount(deep))
			t.Cleanup(func() { _ = unix.Unmount(deep, unix.MNT_DETACH) }) // where the test ends before
			_, err := Open("ref", dir, NewBlocklist())
			require.ErrorContains(t, err, "something is mounted below it, at "+deep)
			open(t, deep) // which is a mount itself, with none below
			open(t, other)
			require.NoError(t, unix.Unmount(deep, unix.MNT_DETACH))
			open(t, dir)
		})
	}
}
