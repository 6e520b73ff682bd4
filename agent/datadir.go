package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ostraka/ostraka/agent/filelock"
)

// ErrInUse says that another agent runs in the data directory.
var ErrInUse = errors.New("another agent runs in this data directory")

// keyName is the file of the agent's private key.
const keyName = "agent.key"

// enrolmentName is the file of what the server gave it.
const enrolmentName = "enrolment.json"

// dataDir is the agent's directory, held until it is closed.
type dataDir struct {
	path string
	lock *os.File
}

// openDataDir makes the directory where it is missing and holds it against other agents.
func openDataDir(path string) (*dataDir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("finding the data directory: %w", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	if err := checkPrivate(path); err != nil {
		return nil, err
	}
	lock, err := holdLock(filepath.Join(path, lockName))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; stop that one first, or give this one a directory of its own with --data", path, err)
	}
	d := &dataDir{path: path, lock: lock}
	if err := d.clearWork(); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// checkPrivate refuses a directory in which somebody else could put a key of theirs.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("looking at the data directory: %w", err)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("the data directory %s may be written by others, who could replace the agent's key: chmod 700 it, or choose another with --data", path)
	}
	return nil
}

// lockTries and lockPause are how often, and how far apart, a lock that is held is asked for again: `ostraka agent status`, which looks
// whether an agent runs, holds it for a moment.
const (
	lockTries = 20
	lockPause = 50 * time.Millisecond
)

func holdLock(path string) (*os.File, error) {
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	for range lockTries {
		f, err := filelock.Try(path)
		if !errors.Is(err, filelock.ErrHeld) {
			return f, err
		}
		<-pause.C
	}
	return nil, ErrInUse
}

// clearWork empties the scratch directory: the lock is ours, so whatever lies there is left over from an agent that was killed.
func (d *dataDir) clearWork() error {
	if err := os.RemoveAll(d.work()); err != nil {
		return fmt.Errorf("clearing what an earlier run left behind: %w", err)
	}
	for _, dir := range []string{d.work(), d.bundles(), d.inputs(), d.spool()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making a directory of the agent: %w", err)
		}
	}
	return nil
}

func (d *dataDir) work() string          { return filepath.Join(d.path, "work") }
func (d *dataDir) spool() string         { return filepath.Join(d.path, "spool") }
func (d *dataDir) bundles() string       { return filepath.Join(d.path, "bundles") }
func (d *dataDir) inputs() string        { return filepath.Join(d.path, "inputs") }
func (d *dataDir) modules() string       { return filepath.Join(d.path, "modules") }
func (d *dataDir) runtimes() string      { return filepath.Join(d.path, "runtimes") }
func (d *dataDir) compiled() string      { return filepath.Join(d.path, "compiled") }
func (d *dataDir) keyFile() string       { return filepath.Join(d.path, keyName) }
func (d *dataDir) enrolmentFile() string { return filepath.Join(d.path, enrolmentName) }

// close gives the directory up. The kernel does it too when the process dies.
func (d *dataDir) close() {
	_ = os.RemoveAll(d.work()) // the next start clears what cannot be removed now
	d.lock.Close()
}
