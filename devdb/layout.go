package devdb

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// layout names the files of one database directory.
type layout struct{ dir string }

func (l layout) data() string         { return filepath.Join(l.dir, "data") }
func (l layout) unfinished() string   { return filepath.Join(l.dir, "data.new") }
func (l layout) instanceLock() string { return filepath.Join(l.dir, "instance.lock") }
func (l layout) serverLock() string   { return filepath.Join(l.dir, "postgres.lock") }
func (l layout) log() string          { return filepath.Join(l.dir, "postgres.log") }
func (l layout) socketPath() string   { return filepath.Join(l.dir, "socket.path") }

// version is the major version that the existing cluster was made with, or 0
// when there is none.
func (l layout) version() int {
	b, err := os.ReadFile(filepath.Join(l.data(), "PG_VERSION"))
	if err != nil {
		return 0
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return major
}
