package audit

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// RestartAction is the action of the record with which a log begins anew, under the origin of another epoch. The tree continues: all restored
// records are in it, so that a witness that remembers only those has lost nothing.
const RestartAction = "audit.restart"

const (
	// MaxRestarts is how often a log may begin anew: each time is shown forever wherever the log is.
	MaxRestarts = 100
	// MaxRestartReason is how long the reason may be, in characters.
	MaxRestartReason = 200
	// MaxRestartBytes is how long the record of a restart may be: a reason, two heads and the checkpoint of one of them.
	MaxRestartBytes = 8 << 10
)

// Restart is what the record of a restart says.
type Restart struct {
	Index    int64       `json:"index"` // the record's number in the log
	At       time.Time   `json:"at"`
	Actor    string      `json:"actor"`
	Reason   string      `json:"reason"`
	From     string      `json:"from"`   // the origin before
	Origin   string      `json:"origin"` // and since
	Restored StatedHead  `json:"restored"`
	Lost     *StatedHead `json:"lost,omitempty"` // the greatest head that was known to be lost; nil: none was
}

// StatedHead is a head as a record states it.
type StatedHead struct {
	Size       int64  `json:"size"`
	Root       string `json:"root"`                 // in base64, as in a checkpoint
	Checkpoint string `json:"checkpoint,omitempty"` // as the log had signed it
}

// State makes a head one that a record states.
func State(c Checkpoint) StatedHead {
	return StatedHead{Size: c.Size, Root: base64.StdEncoding.EncodeToString(c.Root[:])}
}

func (h StatedHead) checkpoint(origin string) (Checkpoint, error) {
	root, err := base64.StdEncoding.Strict().DecodeString(h.Root)
	if err != nil || len(root) != len(Hash{}) || h.Size < 1 {
		return Checkpoint{}, errors.New("a head in it is none")
	}
	return Checkpoint{Origin: origin, Size: h.Size, Root: Hash(root)}, nil
}

type restartDetail struct {
	From     string      `json:"from"`
	Origin   string      `json:"origin"`
	Reason   string      `json:"reason"`
	Restored StatedHead  `json:"restored"`
	Lost     *StatedHead `json:"lost,omitempty"`
}

// Detail is the detail of the record that says it.
func (r Restart) Detail() (json.RawMessage, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return encode(restartDetail{From: r.From, Origin: r.Origin, Reason: r.Reason, Restored: r.Restored, Lost: r.Lost})
}

// ParseRestart reads the canonical bytes of the record of a restart. Nothing is verified of where it stands.
func ParseRestart(record []byte) (Restart, error) {
	if len(record) > MaxRestartBytes {
		return Restart{}, fmt.Errorf("the record of a restart has at most %d bytes, this one has %d", MaxRestartBytes, len(record))
	}
	said, err := ParseRecord(record)
	if err != nil {
		return Restart{}, err
	}
	if said.Action != RestartAction {
		return Restart{}, fmt.Errorf("the record is about %s, and not about a log that began anew", said.Action)
	}
	var d restartDetail
	if err := json.Unmarshal(said.Detail, &d); err != nil {
		return Restart{}, fmt.Errorf("the record of a restart: %w", err)
	}
	r := Restart{At: said.At, Actor: said.Actor, Reason: d.Reason, From: d.From, Origin: d.Origin, Restored: d.Restored, Lost: d.Lost}
	return r, r.check()
}

// check refuses what no restart of ours says.
func (r Restart) check() error {
	before, from := Epoch(r.From)
	since, to := Epoch(r.Origin)
	switch {
	case before != since || to <= from:
		return fmt.Errorf("no log that was called %q begins anew as %q", r.From, r.Origin)
	case r.Reason == "" || !utf8.ValidString(r.Reason) || utf8.RuneCountInString(r.Reason) > MaxRestartReason || strings.ContainsFunc(r.Reason, unicode.IsControl):
		return fmt.Errorf("a log begins anew for a reason of at most %d characters in one line", MaxRestartReason)
	}
	if _, err := r.Restored.checkpoint(r.From); err != nil {
		return err
	}
	if r.Lost != nil {
		if _, err := r.Lost.checkpoint(r.From); err != nil {
			return err
		}
		if len(r.Lost.Checkpoint) > MaxRestartBytes/2 {
			return errors.New("the checkpoint in it is too long")
		}
	}
	return nil
}

// OpenRestart verifies that a log has the record of a restart under the name that it has since. verifier is that of the new epoch.
func OpenRestart(record, proof []byte, verifier string) (Restart, error) {
	r, err := ParseRestart(record)
	if err != nil {
		return r, err
	}
	index, head, err := CheckProof(proof, record, verifier)
	if err != nil {
		return r, err
	}
	if r.Index = index; head.Origin != r.Origin || index < r.Restored.Size {
		return r, fmt.Errorf("the record says that the log is called %s since record %d, and it is record %d of %s", r.Origin, r.Restored.Size, index, head.Origin)
	}
	return r, nil
}
