// Package witness remembers the heads of a server's logs for an agent, co-signs heads that grow out of the remembered ones, and detects a
// server that shows another history. Judge decides, and is pure; a Store keeps the heads.
package witness

import (
	"fmt"
	"time"

	"github.com/ostraka/ostraka/audit"
)

// Why an agent takes no more work from a server. The codes are stable.
const (
	Forked     = "log_forked"      // it has shown two histories of a log
	RolledBack = "log_rolled_back" // it does not get past a head that is older than one that it has shown
	Replaced   = "log_replaced"    // a log has another name, or another key, than it had
	Restarted  = "log_restarted"   // a log began anew, and what the agent remembers of it is lost
)

const (
	// Patience is for how long a server may show heads that are older than one that the agent has seen: servers that share a database show
	// what they have read some seconds ago.
	Patience = 10 * time.Minute
	// PatienceShown is how many such heads in a row it must have shown besides, with no gap of more than Patience between two of them: an agent
	// that slept, or a server that was down, has shown nothing.
	PatienceShown = 10
	// PatienceUnanswered is for how long a server may leave requests for a proof unanswered: one in trouble says nothing about its log, and
	// one that hides another history would say nothing forever.
	PatienceUnanswered = 24 * time.Hour
)

// Head is the head of a log, with what was signed and with which key.
type Head struct {
	audit.Checkpoint
	Note string
	Key  string
	// Restart is what says that the log began anew, the last time that it did; nil: nothing does.
	Restart *audit.Restart
}

// Spell is since when, until when, and how often, something has happened again and again.
type Spell struct {
	Since, Last time.Time
	Times       int
}

// add counts one more. After a gap it is the first one of another spell.
func (s Spell) add(now time.Time) Spell {
	if s.Times == 0 || now.Sub(s.Last) > Patience {
		s = Spell{Since: now}
	}
	s.Last = now
	s.Times++
	return s
}

// longer says whether it has lasted as long as a patience.
func (s Spell) longer(patience time.Duration, now time.Time) bool {
	return s.Times >= PatienceShown && now.Sub(s.Since) >= patience
}

// Behind is for how long the server has shown nothing newer than what the agent remembers, nor the same.
type Behind struct {
	All      Spell
	Answered Spell // those of them for which it has given or refused a proof
}

// Add counts one more.
func (b Behind) Add(now time.Time, p Proof) Behind {
	b.All = b.All.add(now)
	if !p.Unanswered {
		b.Answered = b.Answered.add(now)
	}
	return b
}

// tooLong says whether the patience is at an end.
func (b Behind) tooLong(now time.Time) bool {
	return b.Answered.longer(Patience, now) || b.All.longer(PatienceUnanswered, now)
}

// Proof is what the server has answered when it was asked to prove that the one head grows out of the other.
type Proof struct {
	Given      bool
	Hashes     []audit.Hash
	Unanswered bool   // it has neither given one nor said that its log is shorter
	Why        string // none was given
}

// What an agent does about a head.
const (
	Sign  = "sign"  // remember and co-sign it
	Same  = "same"  // it is the one that is remembered
	Wait  = "wait"  // it is older, or not proven yet: nothing is signed
	Alarm = "alarm" // another history
)

// Verdict is what an agent does about a head, and why.
type Verdict struct {
	Do   string
	Code string // of an alarm
	Why  string
}

// Read verifies a head as the server shows it, with the key that is remembered for the log; empty: with the key that comes with it. A log that
// began anew has the same key under another name.
func Read(note, key, remembered string) (Head, error) {
	if remembered != "" && !audit.SameLog(remembered, key) {
		return Head{Note: note, Key: key}, fmt.Errorf("the log had the key %s and now has %s", remembered, key)
	}
	c, err := audit.Open([]byte(note), key)
	return Head{Checkpoint: c, Note: note, Key: key}, err
}

// ReadRestart adds what says that the log of a head began anew, and refuses what does not hold. A head of another epoch than the first is
// nothing without it.
func (h Head) ReadRestart(record, proof string) (Head, error) {
	if _, epoch := audit.Epoch(h.Origin); epoch == "" {
		return h, nil
	}
	r, err := audit.OpenRestart([]byte(record), []byte(proof), h.Key)
	if err == nil && r.Origin != h.Origin {
		err = fmt.Errorf("it is of %s, and the head of %s", r.Origin, h.Origin)
	}
	if err != nil {
		return h, fmt.Errorf("nothing says why the log is called %s now: %w", h.Origin, err)
	}
	h.Restart = &r
	return h, nil
}

// later says whether the one head is of a later epoch of the same log than the other.
func (h Head) later(than Head) bool {
	own, epoch := audit.Epoch(h.Origin)
	other, before := audit.Epoch(than.Origin)
	return own == other && epoch > before
}

// Needs says which two heads the server must prove consistent before Judge can decide, the older first.
func Needs(remembered, offered Head) (older, newer Head, needed bool) {
	switch {
	case offered.Size > remembered.Size:
		return remembered, offered, true
	case offered.Size < remembered.Size:
		return offered, remembered, true
	default:
		return remembered, offered, false
	}
}

// Judge compares a head of a log with the remembered one; both were verified with the same key. behind counts this head.
func Judge(remembered, offered Head, proof Proof, behind Behind, now time.Time) Verdict {
	switch {
	case remembered.Origin == offered.Origin:
		return judge(remembered, offered, proof, behind, now)
	case offered.later(remembered) && offered.Restart != nil:
		return judgeRestart(remembered, offered, proof, behind, now)
	case remembered.later(offered) && !behind.tooLong(now):
		return Verdict{Wait, "", fmt.Sprintf("a head of the log %s is shown, and it is called %s since it began anew", offered.Origin, remembered.Origin)}
	case remembered.later(offered):
		return Verdict{Alarm, RolledBack, fmt.Sprintf("the log began anew as %s, and for %v the server shows %s", remembered.Origin, now.Sub(behind.All.Since).Round(time.Second), offered.Origin)}
	default:
		return Verdict{Alarm, Replaced, fmt.Sprintf("the log %s is now called %s", remembered.Origin, offered.Origin)}
	}
}

// judgeRestart decides about the first head of a log that began anew. If it grows out of all that is remembered, the agent continues: nothing that
// it has seen is lost. Else the owner decides, since somebody who has taken the server over could say the same to hide what they did.
func judgeRestart(remembered, offered Head, proof Proof, behind Behind, now time.Time) Verdict {
	older := remembered.Checkpoint
	older.Origin = offered.Origin
	switch {
	case offered.Size > remembered.Size && !proof.Given && !behind.tooLong(now):
		return Verdict{Wait, "", fmt.Sprintf("the log began anew, and it is not proven yet that it grows out of the %d records that are remembered", remembered.Size)}
	case offered.Size > remembered.Size && proof.Given && audit.CheckConsistency(older, offered.Checkpoint, proof.Hashes) == nil:
		return Verdict{Do: Sign}
	default:
		r := offered.Restart
		return Verdict{Alarm, Restarted, fmt.Sprintf("the log began anew at record %d, and does not grow out of the %d records that are remembered; the reason that %s gives: %s", r.Index, remembered.Size, r.Actor, r.Reason)}
	}
}

// judge decides about a head of the same epoch.
func judge(remembered, offered Head, proof Proof, behind Behind, now time.Time) Verdict {
	older, newer, needed := Needs(remembered, offered)
	switch {
	case !needed && remembered.Root == offered.Root:
		return Verdict{Do: Same}
	case !needed:
		return Verdict{Alarm, Forked, fmt.Sprintf("two different heads of %d records of the log %s are signed", offered.Size, offered.Origin)}
	case proof.Given && audit.CheckConsistency(older.Checkpoint, newer.Checkpoint, proof.Hashes) != nil:
		return Verdict{Alarm, Forked, fmt.Sprintf("the head of %d records of the log %s does not grow out of the one of %d", newer.Size, newer.Origin, older.Size)}
	case proof.Given && offered.Size > remembered.Size:
		return Verdict{Do: Sign}
	case !behind.tooLong(now):
		return Verdict{Wait, "", fmt.Sprintf("a head of %d records is shown, and one of %d is remembered", offered.Size, remembered.Size)}
	case offered.Size < remembered.Size:
		return Verdict{Alarm, RolledBack, fmt.Sprintf("the log %s had %d records, and for %v the server shows no more than %d", remembered.Origin, remembered.Size, now.Sub(behind.All.Since).Round(time.Second), offered.Size)}
	default:
		return Verdict{Alarm, Forked, fmt.Sprintf("for %v the server has not proven that the log %s of %d records grows out of the one of %d; when it was asked last: %s", now.Sub(behind.All.Since).Round(time.Second), offered.Origin, offered.Size, remembered.Size, proof.Why)}
	}
}
