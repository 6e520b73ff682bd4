package devdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// MaxSocketPath is the longest path of a Unix socket in bytes: the kernel's
	// sun_path has 108, one of them for the final NUL.
	MaxSocketPath = 107

	// socketPort only names the socket's file; nothing listens on a TCP port.
	socketPort = "5432"
	socketName = ".s.PGSQL." + socketPort

	// shortBase is where a short socket directory goes. Not os.TempDir(), which
	// may itself be deep, or closed to the server's account.
	shortBase   = "/tmp"
	shortPrefix = "ostraka-pg-"
)

// socketDir is the directory of the server's socket: the cluster itself, or a
// private temporary one when the cluster's path cannot name a socket.
type socketDir struct {
	path      string
	temporary bool
	record    string // the file that remembers a temporary directory
}

// setting is the server's unix_socket_directories: relative to the cluster,
// which the server may not be able to reach by its path.
func (d socketDir) setting() string {
	if d.temporary {
		return d.path
	}
	return "."
}

func newSocketDir(l layout, acct account) (socketDir, error) {
	if err := sweepSocketDir(l); err != nil {
		return socketDir{}, err
	}
	if namesSocket(l.data()) {
		return socketDir{path: l.data()}, nil
	}
	path, err := os.MkdirTemp(shortBase, shortPrefix)
	if err != nil {
		return socketDir{}, fmt.Errorf("making a short directory for the database's socket: %w", err)
	}
	d := socketDir{path: path, temporary: true, record: l.socketPath()}
	if err := d.settle(acct); err != nil {
		d.remove()
		return socketDir{}, fmt.Errorf("making a short directory for the database's socket: %w", err)
	}
	return d, nil
}

// namesSocket tells whether a socket in the directory can be bound and then
// named in a URL, where a comma would begin a second host.
func namesSocket(dir string) bool {
	return len(filepath.Join(dir, socketName)) <= MaxSocketPath && !strings.Contains(dir, ",")
}

// settle remembers the directory for the sweep after a kill and gives it to the
// server's account.
func (d socketDir) settle(acct account) error {
	if err := os.WriteFile(d.record, []byte(d.path), 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(d.path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return acct.give(f)
}

func (d socketDir) remove() {
	if d.temporary {
		_ = os.RemoveAll(d.path) // swept at the next start if this fails
		_ = os.Remove(d.record)
	}
}

// sweepSocketDir removes the temporary directory of a killed run. It trusts the
// record only as far as the name goes that newSocketDir gives.
func sweepSocketDir(l layout) error {
	b, err := os.ReadFile(l.socketPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading where the last socket was: %w", err)
	}
	path := string(b)
	if filepath.Dir(path) == shortBase && strings.HasPrefix(filepath.Base(path), shortPrefix) {
		_ = os.RemoveAll(path) // a directory of somebody else by now
	}
	if err := os.Remove(l.socketPath()); err != nil {
		return fmt.Errorf("forgetting the last socket: %w", err)
	}
	return nil
}
