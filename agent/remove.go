package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// lockName is the lock of a data directory. Only an agent makes one, so that it marks the directory as one of ours.
const lockName = "agent.lock"

// ownEntries are what an agent makes in its data directory: RemoveData removes these and nothing else.
var ownEntries = []string{
	"agent.key", "enrolment.json", "trust.json", "trust.lock", "bundles", "inputs", "work", "spool", "prefs.toml", "prefs.lock", "status.json", "history.json", "history.json.damaged", volumesName, "eula.json", "monitor", "python", "modules", "compiled", "runtimes", "witness", "paused.json",
}

// RemoveData removes an agent's data directory. The agent must not run. What it has not made is kept and returned.
func RemoveData(path string, dryRun bool) (kept []string, err error) {
	if _, err := os.Lstat(filepath.Join(path, lockName)); err != nil {
		return nil, fmt.Errorf("%s is no agent's folder: %w", path, err)
	}
	lock, err := holdLock(filepath.Join(path, lockName))
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("reading the folder: %w", err)
	}
	for _, e := range entries {
		if e.Name() != lockName && !slices.Contains(ownEntries, e.Name()) {
			kept = append(kept, e.Name())
		}
	}
	if dryRun {
		return kept, nil
	}
	for _, name := range ownEntries {
		if err := os.RemoveAll(filepath.Join(path, name)); err != nil {
			return nil, fmt.Errorf("removing the agent's files: %w", err)
		}
	}
	// The lock goes last: what breaks off before can be done again. Windows removes no file that is open.
	if err := errors.Join(lock.Close(), os.Remove(filepath.Join(path, lockName))); err != nil {
		return nil, fmt.Errorf("removing the agent's lock: %w", err)
	}
	if len(kept) > 0 {
		return kept, nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("removing the folder: %w", err)
	}
	return nil, nil
}
