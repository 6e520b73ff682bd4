package witness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ostraka/ostraka/agent/filelock"
	"github.com/ostraka/ostraka/agent/secretfile"
	"github.com/ostraka/ostraka/agent/wholefile"
	"github.com/ostraka/ostraka/audit"
)

const (
	// MaxLogs is how many logs of a server an agent follows: its own, and those of projects.
	MaxLogs = 16
	// ForgetAfter is for how long a project's log must not have been shown before another takes its place.
	ForgetAfter = 90 * 24 * time.Hour
	// RenewAfter is after how long a head that has not changed is co-signed again: it says that the log was still shown, which is not
	// forgotten then.
	RenewAfter = 24 * time.Hour
	// MaxReason is the longest reason with which an owner accepts another history, in characters.
	MaxReason = 200
	// MaxKeptRestarts is how many of the times that a log began anew are remembered; what was accepted is kept besides, as evidence.
	MaxKeptRestarts = 16
	// maxNotice bounds what is read of a notice, in bytes: four notes, two proofs and two records, each byte six in JSON at worst.
	maxNotice = 2 << 20
)

// Log is what an agent remembers of a log.
type Log struct {
	Note string    `json:"note"` // the newest head that it has co-signed
	Key  string    `json:"key"`
	Seen time.Time `json:"seen"` // when it was co-signed last
	// Restarts are the times that the log began anew since the agent follows it, the newest MaxKeptRestarts of them.
	Restarts []audit.Restart `json:"restarts,omitempty"`
}

// restarted is what is remembered of a log with one more time that it began anew, if it is one.
func (l Log) restarted(before []audit.Restart, r *audit.Restart) Log {
	l.Restarts = before
	if r != nil && !slices.ContainsFunc(before, func(b audit.Restart) bool { return b.Origin == r.Origin }) {
		l.Restarts = append(slices.Clone(before), *r)
	}
	l.Restarts = l.Restarts[max(0, len(l.Restarts)-MaxKeptRestarts):]
	return l
}

// Following is what is remembered of a log once a head of it is co-signed: the head, and all that was known of restarts.
func Following(known Log, h Head, now time.Time) Log {
	return Log{Note: h.Note, Key: h.Key, Seen: now}.restarted(known.Restarts, h.Restart)
}

// Notice is another history that was found, with what proves it. For as long as it lies in the agent's folder the agent takes no work.
type Notice struct {
	Code       string    `json:"code"`
	Why        string    `json:"why"`
	At         time.Time `json:"at"`
	Server     string    `json:"server"`
	Log        string    `json:"log"` // whose: "server", or a project
	Remembered Log       `json:"remembered"`
	Shown      Log       `json:"shown"`
	Restart    *Restart  `json:"restart,omitempty"`  // with which the log began anew since; nil: nothing says that it did
	Later      *Restart  `json:"later,omitempty"`    // the newest time that it did so after that, which is no part of what is accepted
	Accepted   string    `json:"accepted,omitempty"` // the owner's reason
	AcceptedAt time.Time `json:"accepted_at,omitzero"`
}

// Restart is what a server says of a log that began anew, with what proves that the log says it.
type Restart struct {
	audit.Restart
	Record string `json:"record"`
	Proof  string `json:"proof"`
	Note   string `json:"note"` // the head that it came with
	Key    string `json:"key"`
}

// Store is the folder in the agent's data directory. It is read whenever it is used, so that the owner may accept while the agent runs.
type Store struct{ dir string }

// Open names the store of a data directory.
func Open(dataDir string) *Store { return &Store{filepath.Join(dataDir, "witness")} }

// KeyFile is the file of the key with which the agent co-signs.
func (s *Store) KeyFile() string { return filepath.Join(s.dir, "witness.key") }

func (s *Store) noticeFile() string { return filepath.Join(s.dir, "alarm.json") }
func (s *Store) headsFile() string  { return filepath.Join(s.dir, "heads.json") }

// Make makes the folder.
func (s *Store) Make() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of the logs' heads: %w", err)
	}
	return nil
}

// heads are the logs of each server, by its origin, and there by "server" or the project.
type heads map[string]map[string]Log

// Logs are what is remembered of a server's logs.
func (s *Store) Logs(server string) (map[string]Log, error) {
	all, err := s.read()
	return all[server], err
}

func (s *Store) read() (all heads, err error) {
	text, err := secretfile.Read(s.headsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return heads{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the heads of logs that are remembered: %w; put a right %s back", err, s.headsFile())
	}
	if all == nil {
		all = heads{}
	}
	return all, nil
}

// Remember keeps the newest head of a log, on disk before it returns. It says no where the agent follows as many logs as it may.
func (s *Store) Remember(server, log string, l Log) (kept bool, err error) {
	err = s.alone(func() error {
		kept, err = s.remember(server, log, l)
		return err
	})
	return kept, err
}

func (s *Store) remember(server, log string, l Log) (kept bool, err error) {
	err = s.change(func(all heads) bool {
		if all[server] == nil {
			all[server] = map[string]Log{}
		}
		kept = room(all[server], log, l.Seen)
		if kept {
			all[server][log] = l
		}
		return kept
	})
	return kept, err
}

// room makes room for a log; the server's own always has some.
func room(logs map[string]Log, log string, now time.Time) bool {
	if _, known := logs[log]; known || log == ServerLog || len(logs) < MaxLogs {
		return true
	}
	for other, l := range logs {
		if other != ServerLog && now.Sub(l.Seen) > ForgetAfter {
			delete(logs, other)
			return true
		}
	}
	return false
}

// ServerLog is what the server's own log is called here.
const ServerLog = "server"

// alone does something while no other process changes what is in the folder: the agent, or its owner's command.
func (s *Store) alone(do func() error) error {
	lock, err := filelock.Wait(filepath.Join(s.dir, "lock"))
	if err != nil {
		return fmt.Errorf("keeping the heads of logs: %w", err)
	}
	defer lock.Close()
	return do()
}

func (s *Store) change(do func(heads) bool) error {
	all, err := s.read()
	if err != nil || !do(all) {
		return err
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the heads of logs: %w", err)
	}
	return secretfile.Write(s.headsFile(), append(text, '\n'))
}

// Raise keeps a notice; one that stands already stays.
func (s *Store) Raise(n Notice) error {
	return s.alone(func() error {
		if old, err := s.Notice(); err != nil || old != nil {
			return err
		}
		return s.write(s.noticeFile(), n)
	})
}

func (s *Store) write(path string, n Notice) error {
	text, err := json.MarshalIndent(n, "", "  ")
	if err == nil {
		err = wholefile.Write(path, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping what proves another history: %w", err)
	}
	return nil
}

// Notice is the one that stands; nil where none does. One that cannot be read is one.
func (s *Store) Notice() (*Notice, error) {
	info, err := os.Stat(s.noticeFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no alarm is no error
	}
	if err == nil && info.Size() > maxNotice {
		err = fmt.Errorf("it has more than %d bytes", maxNotice)
	}
	var n Notice
	if err == nil {
		var text []byte
		if text, err = os.ReadFile(s.noticeFile()); err == nil {
			err = json.Unmarshal(text, &n)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.noticeFile(), err)
	}
	return &n, nil
}

// Explain adds to the notice of a log what says that it began anew since. The notice stands until the owner accepts. The first restart stays,
// whatever the server says later: the owner may have looked at it already. Of later ones the newest is kept beside it.
func (s *Store) Explain(server, log string, r Restart) error {
	return s.alone(func() error {
		n, err := s.Notice()
		if err != nil || n == nil || n.Server != server || n.Log != log {
			return err
		}
		switch {
		case n.Restart == nil:
			n.Restart = &r
		case n.Restart.Origin < r.Origin && (n.Later == nil || n.Later.Origin < r.Origin):
			n.Later = &r
		default:
			return nil
		}
		return s.write(s.noticeFile(), *n)
	})
}

// Reason is what an owner accepts who gives no reason of their own: the one with which the log began anew.
func (n Notice) Reason() string {
	if n.Restart == nil {
		return ""
	}
	return n.Restart.Reason
}

// ErrSaidSince says that a server has said something else since the owner looked.
var ErrSaidSince = errors.New("the server has said something else since: look again with ostraka agent witness show")

// ErrNothing says that no notice stands.
var ErrNothing = errors.New("there is nothing to accept: the server has shown this agent one history of its logs")

// RestartOrigin is what the log is called since it began anew; "" where nothing says that it did.
func (n Notice) RestartOrigin() string {
	if n.Restart == nil {
		return ""
	}
	return n.Restart.Origin
}

// same says whether accepting two notices is accepting the same.
func (n Notice) same(other Notice) bool {
	return n.At.Equal(other.At) && n.Server == other.Server && n.Log == other.Log && n.Shown.Note == other.Shown.Note && n.RestartOrigin() == other.RestartOrigin()
}

// Accept has the agent go on from the history that its owner has seen in a notice; of a log that began anew, from there. Without a reason it
// is the one that the restart gives. A notice that says something else by now is not accepted. It stays as evidence beside the heads.
func (s *Store) Accept(seen Notice, reason string, now time.Time) (accepted Notice, err error) {
	err = s.alone(func() error {
		accepted, err = s.accept(seen, reason, now)
		return err
	})
	return accepted, err
}

func (s *Store) accept(seen Notice, reason string, now time.Time) (Notice, error) {
	n, err := s.Notice()
	if n != nil && reason == "" {
		reason = n.Reason()
	}
	switch {
	case err != nil:
		return Notice{}, err
	case n == nil:
		return Notice{}, ErrNothing
	case !n.same(seen):
		return Notice{}, ErrSaidSince
	case reason == "" || len([]rune(reason)) > MaxReason:
		return Notice{}, fmt.Errorf("say why, in at most %d characters", MaxReason)
	}
	n.Accepted, n.AcceptedAt = reason, now
	if err := s.write(filepath.Join(s.dir, "accepted-"+now.UTC().Format("20060102T150405.000000000")+".json"), *n); err != nil {
		return *n, err
	}
	shown := n.Shown
	shown.Seen = now
	if r := n.Restart; r != nil {
		shown = Following(n.Remembered, Head{Note: r.Note, Key: r.Key, Restart: &r.Restart}, now)
	}
	if _, err := s.remember(n.Server, n.Log, shown); err != nil {
		return *n, err
	}
	if err := os.Remove(s.noticeFile()); err != nil {
		return *n, fmt.Errorf("ending the alarm: %w", err)
	}
	return *n, nil
}

// KnownRestart is a time that a log of a server began anew, as the agent was shown.
type KnownRestart struct {
	Server string `json:"server"`
	Log    string `json:"log"`
	audit.Restart
}

// Restarts are the times that logs began anew which the agent follows, by server and log.
func (s *Store) Restarts() (list []KnownRestart, err error) {
	all, err := s.read()
	if err != nil {
		return nil, err
	}
	for _, server := range slices.Sorted(maps.Keys(all)) {
		for _, log := range slices.Sorted(maps.Keys(all[server])) {
			for _, r := range all[server][log].Restarts {
				list = append(list, KnownRestart{Server: server, Log: log, Restart: r})
			}
		}
	}
	return list, nil
}
