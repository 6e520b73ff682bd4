// Package spool keeps on disk the finished results that the server does not have yet, so that a restart loses nothing.
//
// Each lease has one file, a log: the line that names the format, then records, each with its length and its SHA-256. A record is
// written with one write, so that it survives the death of the process; Sync makes it survive the death of the machine too. A reader cuts
// off the rest of an interrupted write at the end of a log. Nothing in the files is believed before its digest was
// computed, and their sizes are bounded.
package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// DefaultBytes is how much all logs together may hold, in bytes: the results of several full leases with large outputs.
	DefaultBytes = 256 << 20
	// MaxRecord is the largest record, in bytes: a lease with 4 MiB of inputs, each byte of which may take six in JSON, or an output
	// of 16 MiB.
	MaxRecord = 32 << 20
	// MaxAge is how long a log is kept. No lease lives that long without its agent; it is long so that a clock that is hours wrong
	// does no harm.
	MaxAge = 7 * 24 * time.Hour
	// MaxLogs is how many logs are looked at when an agent starts.
	MaxLogs = 1024

	magic  = "ostraka-spool/1\n"
	suffix = ".log"
)

// ErrFull says that the spool holds as much as it may.
var ErrFull = errors.New("the spool is full")

// Spool is the directory of the logs.
type Spool struct {
	root *os.Root

	mu   sync.Mutex
	used int64
	max  int64
}

// Open opens the spool in a directory that exists. It may hold so many bytes.
func Open(dir string, most int64) (*Spool, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the spool: %w", err)
	}
	return &Spool{root: root, max: most}, nil
}

// Close lets the directory go.
func (s *Spool) Close() error { return s.root.Close() }

// Used is how many bytes the logs hold.
func (s *Spool) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Limit changes how many bytes the spool may hold. What is there already stays.
func (s *Spool) Limit(most int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.max = most
}

// take reserves bytes.
func (s *Spool) take(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used+n > s.max {
		return fmt.Errorf("%w: it holds %d bytes and may hold %d", ErrFull, s.used, s.max)
	}
	s.used += n
	return nil
}

func (s *Spool) free(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= n
}

// Begin starts the log of a lease with what describes it.
func (s *Spool) Begin(id uuid.UUID, lease []byte) (*Log, error) {
	name := id.String() + suffix
	f, err := s.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("beginning the log of a lease: %w", err)
	}
	l := &Log{spool: s, name: name, file: f, outputs: map[string]place{}}
	if err = l.write([]byte(magic)); err == nil {
		err = l.append(kindLease, lease)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("beginning the log of a lease: %w", err), l.Remove())
	}
	return l, nil
}

// Dropped is a file that was removed, and why.
type Dropped struct {
	Name string
	Why  string
}

// Leftovers reads what an earlier run has left: the logs that can be used, and the files that had to be dropped.
func (s *Spool) Leftovers(now time.Time) (logs []*Log, dropped []Dropped, err error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, nil, fmt.Errorf("listing the spool: %w", err)
	}
	for _, e := range entries {
		l, why := s.leftover(e, now, len(logs))
		if why == "" {
			logs = append(logs, l)
			continue
		}
		if err := s.root.RemoveAll(e.Name()); err != nil {
			return logs, dropped, fmt.Errorf("removing %s from the spool: %w", e.Name(), err)
		}
		dropped = append(dropped, Dropped{e.Name(), why})
	}
	return logs, dropped, nil
}

// leftover reads one file, or says why it cannot be used.
func (s *Spool) leftover(e fs.DirEntry, now time.Time, read int) (*Log, string) {
	name, isLog := strings.CutSuffix(e.Name(), suffix)
	if _, err := uuid.Parse(name); err != nil || !isLog || !e.Type().IsRegular() {
		return nil, "it is no log of a lease"
	}
	info, err := e.Info()
	switch {
	case err != nil:
		return nil, err.Error()
	case now.Sub(info.ModTime()) > MaxAge:
		return nil, "it is older than " + MaxAge.String()
	case read >= MaxLogs:
		return nil, fmt.Sprintf("there are more than %d logs", MaxLogs)
	}
	if err := s.take(info.Size()); err != nil {
		return nil, err.Error()
	}
	l, err := s.read(e.Name(), info.Size())
	if err != nil {
		s.free(info.Size())
		return nil, err.Error()
	}
	return l, ""
}
