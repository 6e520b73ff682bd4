package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxPauseReason is the longest reason for a pause, in characters.
const maxPauseReason = 200

// pauseNote is the file that pauses an agent for as long as it lies in its data directory.
type pauseNote struct {
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"`
}

func (n *pauseNote) text() string {
	text := "paused by the owner since " + n.Since.Local().Format("2006-01-02 15:04:05")
	if n.Since.IsZero() {
		text = "paused by the owner" // a file that says nothing pauses too
	}
	if n.Reason != "" {
		text += " (" + n.Reason + ")"
	}
	return text + ": ostraka agent resume"
}

// Pause has the agent of a data directory finish the shards that it executes, return the rest and take no more work, also after it is
// started again, until Resume.
func Pause(dataDir, reason string) error {
	if len([]rune(reason)) > maxPauseReason {
		return fmt.Errorf("the reason has more than %d characters: say it in fewer words", maxPauseReason)
	}
	if _, err := os.Stat(dataDir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no agent in %s: name its directory with --data", dataDir)
	}
	text, err := json.Marshal(pauseNote{Since: time.Now(), Reason: reason})
	if err != nil {
		return fmt.Errorf("pausing the agent: %w", err)
	}
	if err := replaceFile(pauseFile(dataDir), text); err != nil {
		return fmt.Errorf("pausing the agent: %w", err)
	}
	return nil
}

// Resume ends a pause and says whether there was one.
func Resume(dataDir string) (paused bool, err error) {
	err = os.Remove(pauseFile(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ending the pause: %w", err)
	}
	return true, nil
}

func pauseFile(dataDir string) string { return filepath.Join(dataDir, "paused.json") }

// readPause reads the note; nil where there is none. A note that cannot be read pauses: whoever wrote it wanted that.
func readPause(path string) *pauseNote {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var note pauseNote
	if err == nil {
		_ = json.Unmarshal(text, &note) // what it does not say stays empty
	}
	note.Reason = cutText(note.Reason, maxPauseReason)
	return &note
}
