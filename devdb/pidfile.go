package devdb

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// pidFiles are the files by which Postgres keeps a second server out: of the
// cluster and of the socket.
var pidFiles = []string{"postmaster.pid", socketName + ".lock"}

// removeStalePIDFile removes the pid files that a killed server left. Postgres
// does so itself unless the pid has meanwhile gone to another process of the
// same user, which it cannot tell from a live server; we can, since a server's
// working directory is its cluster. A live server that somebody started by hand
// is left alone and named.
func (s *Server) removeStalePIDFile() error {
	root, err := os.OpenRoot(s.layout.data())
	if err != nil {
		return fmt.Errorf("opening the cluster: %w", err)
	}
	defer root.Close()
	b, err := root.ReadFile(pidFiles[0])
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the pid file of an earlier server: %w", err)
	}
	first, _, _ := bytes.Cut(b, []byte("\n"))
	if pid, err := strconv.Atoi(string(first)); err == nil && worksIn(pid, s.layout.data()) {
		return inUse(s.layout.dir, "process "+strconv.Itoa(pid))
	}
	if err := removeAll(root, pidFiles); err != nil {
		return err
	}
	if s.socket.temporary {
		return removeFrom(s.socket.path, pidFiles[1:])
	}
	return nil
}

func removeFrom(dir string, names []string) error {
	root, err := os.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return fmt.Errorf("opening the socket's directory: %w", err)
	}
	defer root.Close()
	return removeAll(root, names)
}

func removeAll(root *os.Root, names []string) error {
	for _, name := range names {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the pid file of an earlier server: %w", err)
		}
	}
	return nil
}
