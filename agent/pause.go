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

const (
	// maxPauseReason is the longest reason for a pause, in characters.
	maxPauseReason = 200
	// MaxPause is how long a pause with an end may last: what is longer is a pause without one.
	MaxPause = 366 * 24 * time.Hour
)

// PauseOptions say how an agent pauses.
type PauseOptions struct {
	// Reason is shown in the status, and stays on the machine.
	Reason string
	// Finish has the agent execute all shards of the leases that it has before it rests. Without it, it finishes the shards that it is
	// executing and returns the others.
	Finish bool
	// For is how long the pause lasts, MaxPause at most; 0: until Resume.
	For time.Duration
}

// pauseNote is the file that pauses an agent for as long as it lies in its data directory.
type pauseNote struct {
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"`
	Finish bool      `json:"finish,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// over says whether the pause has ended by itself.
func (n *pauseNote) over(now time.Time) bool { return !n.Until.IsZero() && !now.Before(n.Until) }

func (n *pauseNote) text() string {
	text := "paused by the owner since " + n.Since.Local().Format("2006-01-02 15:04:05")
	if n.Since.IsZero() {
		text = "paused by the owner" // a file that says nothing pauses too
	}
	if !n.Until.IsZero() {
		text += " until " + n.Until.Local().Format("2006-01-02 15:04")
	}
	if n.Reason != "" {
		text += " (" + n.Reason + ")"
	}
	return text + ": ostraka agent resume"
}

// Pause has the agent of a data directory take no more work, also after it is started again, until the pause is over or Resume ends it.
func Pause(dataDir string, o PauseOptions) error {
	switch {
	case len([]rune(o.Reason)) > maxPauseReason:
		return fmt.Errorf("the reason has more than %d characters: say it in fewer words", maxPauseReason)
	case o.For < 0 || o.For > MaxPause:
		return fmt.Errorf("a pause lasts %d days at most: leave its end out and resume when you like", int(MaxPause.Hours()/24))
	}
	if err := CheckDataDir(dataDir); err != nil {
		return err
	}
	note := pauseNote{Since: time.Now(), Finish: o.Finish, Reason: o.Reason}
	if o.For > 0 {
		note.Until = note.Since.Add(o.For)
	}
	text, err := json.Marshal(note)
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

// readPause reads the note; nil where there is none. A note that cannot be read pauses: its writer wanted that.
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
