package agent

import (
	"bytes"
	"errors"
	"time"

	"github.com/ostraka/ostraka/agent/prefs"
)

// Editors empty a file and write it again, or move it away and make another: for a moment there is half of it, or nothing, and much of
// what is half there can be read without a mistake.
const (
	// settledFor is how long the preferences must have stood unchanged before they count.
	settledFor = time.Second
	// unfinishedFor is the same for what looks as if more were to come: a last line without its end, or no file.
	unfinishedFor = 5 * time.Second
)

// errEmptied is why an empty file does not replace preferences: it cannot be told from one that an editor has lost.
var errEmptied = errors.New("the file is empty, which may be an accident; to limit nothing write a line with a comment (# nothing), or remove the file")

// settling tells a file that stands from one that somebody is writing.
type settling struct {
	seen  prefs.File
	since time.Time // when it was first seen so; zero: nothing was seen yet
}

// stands says whether what is seen of the file now is whole.
func (s *settling) stands(f prefs.File, now time.Time) bool {
	if s.since.IsZero() || !s.seen.Same(f) {
		s.seen, s.since = f, now
	}
	return now.Sub(s.since) >= standsAfter(f)
}

// began uses the file's own time for how long it has been unchanged, if this is the first look. A time in the future says nothing.
func (s *settling) began(f prefs.File, now time.Time) {
	s.seen, s.since = f, now
	if f.There && f.Modified.Before(now) {
		s.since = f.Modified
	}
	if !f.There {
		s.since = now.Add(-unfinishedFor) // most agents have none, and nothing is in force that its absence would undo
	}
}

func standsAfter(f prefs.File) time.Duration {
	if f.There && bytes.HasSuffix(f.Content, []byte("\n")) {
		return settledFor
	}
	return unfinishedFor
}
