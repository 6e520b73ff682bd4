package prefs

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ostraka/ostraka/agent/filelock"
)

// LockName is the file in the agent's data directory that is locked while the preferences are changed.
const LockName = "prefs.lock"

// Change puts in the file's place what how makes of its content. Of two changes at a time neither is lost, whichever processes make them:
// the page, the command line, an editor that ends. Where how gives an error nothing is written.
func Change(path string, how func(content []byte) ([]byte, error)) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the agent's folder: %w", err)
	}
	lock, err := filelock.Wait(filepath.Join(dir, LockName))
	if err != nil {
		return fmt.Errorf("changing the preferences: %w", err)
	}
	defer lock.Close()
	content, err := Read(path)
	if err != nil {
		return err
	}
	changed, err := how(content)
	if err != nil {
		return err
	}
	return save(path, changed)
}
