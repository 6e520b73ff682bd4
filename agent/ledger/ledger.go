// Package ledger records for the owner of the machine, day by day, what the agent has done and for whom.
package ledger

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/wholefile"
)

const (
	// KeptDays is how many days the ledger goes back, today included.
	KeptDays = 90
	// MaxEntries is how many functions a day tells apart. What comes beyond them is one entry without project and version.
	MaxEntries = 256
	// Others is the function of that entry.
	Others = "(others)"
	// maxFile bounds what is read: far more than 90 days of 256 entries take.
	maxFile = 16 << 20
	// dateLayout names a day of the machine's own calendar.
	dateLayout = time.DateOnly
)

// Work is what was done.
type Work struct {
	Shards    int64 `json:"shards"` // executed, also those that failed
	Failed    int64 `json:"failed"` // of these: without an output
	CPUMicros int64 `json:"cpu_us"`
	// WallMicros is how long the shards took by the clock, one after the other: with several workers it passes faster.
	WallMicros int64 `json:"wall_us"`
	// OutputBytes is the size of the outputs, in bytes.
	OutputBytes int64 `json:"output_bytes"`
	// WrittenFiles and WrittenBytes are how many more files and folders, and bytes, lay in volumes when its leases ended than when they began.
	WrittenFiles int64 `json:"written_files,omitempty"`
	WrittenBytes int64 `json:"written_bytes,omitempty"`
}

// plus adds up.
func (w Work) plus(more Work) Work {
	return Work{
		w.Shards + more.Shards, w.Failed + more.Failed, w.CPUMicros + more.CPUMicros, w.WallMicros + more.WallMicros, w.OutputBytes + more.OutputBytes,
		w.WrittenFiles + more.WrittenFiles, w.WrittenBytes + more.WrittenBytes,
	}
}

// Entry is the work of one day for one version of one function.
type Entry struct {
	Day      string    `json:"day"` // such as 2026-11-24, by the clock of the machine
	Project  uuid.UUID `json:"project"`
	Function string    `json:"function"`
	Version  int64     `json:"version"`
	Work
}

// key is what an entry is found by.
type key struct {
	day      string
	project  uuid.UUID
	function string
	version  int64
}

// Ledger counts. It keeps what it has counted when it is told to, so that a machine that loses its power loses little.
type Ledger struct {
	path string

	mu      sync.Mutex
	entries map[key]Work
	perDay  map[string]int
	changed bool
}

// Open reads the ledger in a file. Where the file cannot be understood, it is put aside and counting starts from zero: the error says so, and
// the ledger can be used.
func Open(path string) (*Ledger, error) {
	l := &Ledger{path: path, entries: map[key]Work{}, perDay: map[string]int{}}
	entries, err := Read(path)
	if err != nil {
		aside := path + ".damaged"
		if moveErr := os.Rename(path, aside); moveErr != nil {
			return l, errors.Join(err, moveErr)
		}
		return l, fmt.Errorf("%w; it is kept as %s", err, filepath.Base(aside))
	}
	for _, e := range entries {
		l.add(key{e.Day, e.Project, e.Function, e.Version}, e.Work)
	}
	return l, nil
}

// Read reads the entries in a file, the newest day first and the most processor time first within a day. Without a file there are none.
func Read(path string) ([]Entry, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = fmt.Errorf("it is no file of at most %d bytes", maxFile)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	var entries []Entry
	if err == nil {
		err = json.Unmarshal(text, &entries)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what the agent has done: %w", err)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.CPUMicros, a.CPUMicros), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Version, b.Version))
	})
	return entries, nil
}

// Add counts work that ended at that time.
func (l *Ledger) Add(at time.Time, project uuid.UUID, function string, version int64, w Work) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(key{at.Local().Format(dateLayout), project, function, version}, w)
	l.changed = true
}

func (l *Ledger) add(k key, w Work) {
	old, known := l.entries[k]
	if !known && l.perDay[k.day] >= MaxEntries-1 { // one is left for the others
		k = key{day: k.day, function: Others}
		old, known = l.entries[k]
	}
	if !known {
		l.perDay[k.day]++
	}
	l.entries[k] = old.plus(w)
}

// Keep writes what has changed since the last time, without days that are too long ago.
func (l *Ledger) Keep(now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.changed {
		return nil
	}
	oldest := now.Local().AddDate(0, 0, 1-KeptDays).Format(dateLayout)
	maps.DeleteFunc(l.entries, func(k key, _ Work) bool { return k.day < oldest })
	maps.DeleteFunc(l.perDay, func(day string, _ int) bool { return day < oldest })
	entries := make([]Entry, 0, len(l.entries))
	for k, w := range l.entries {
		entries = append(entries, Entry{k.day, k.project, k.function, k.version, w})
	}
	text, err := json.Marshal(entries)
	if err == nil {
		err = wholefile.Write(l.path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping what the agent has done: %w", err)
	}
	l.changed = false
	return nil
}

// Since adds up what was done from a day on.
func Since(entries []Entry, from time.Time) (sum Work) {
	day := from.Local().Format(dateLayout)
	for _, e := range entries {
		if e.Day >= day {
			sum = sum.plus(e.Work)
		}
	}
	return sum
}
