package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/google/uuid"
)

const (
	// MaxWrittenBytes bounds what an owner may allow functions to write to one volume, so that a slip of the pen is found out.
	MaxWrittenBytes = 1 << 44 // 16 TiB
	// MaxWritten is how many files and folders functions may keep in one volume: all of them are looked at several times a second.
	MaxWritten = 100_000
	// MaxDepth is how deeply folders in it may be nested: each level costs a step of every look.
	MaxDepth = 64
	// MaxLanes is how many sandboxes of one function may have one volume at a time.
	MaxLanes = 64
	// KeepFree is what is left of the disk below a volume, whatever its owner allows. It also bounds what a look at names does not find: files that are
	// open and have no name any more.
	KeepFree = 256 << 20
)

// Usage is what lies in a folder that functions write to.
type Usage struct {
	Files int64 `json:"files"` // and folders
	Bytes int64 `json:"bytes"` // sum of sizes, holes included
}

func (u Usage) plus(o Usage) Usage { return Usage{u.Files + o.Files, u.Bytes + o.Bytes} }

func (u Usage) fits(most Usage) bool { return u.Files <= most.Files && u.Bytes <= most.Bytes }

// Writable shares the volumes that functions write to among sandboxes. Each sandbox gets a folder of its own, its lane, below those of its project and
// function: no project sees what another one has written, and no two sandboxes write to the same files. What it finds there is what an earlier sandbox of
// the same function has left, or nothing. It may be used by several goroutines at once.
type Writable struct {
	entries  int64 // MaxWritten
	keepFree int64 // KeepFree
	log      *slog.Logger

	mu      sync.Mutex
	volumes map[string]*written // by their folders
}

// NewWritable knows of no lane in use. What cannot be removed it tells the log.
func NewWritable(log *slog.Logger) *Writable {
	return &Writable{entries: MaxWritten, keepFree: KeepFree, log: log, volumes: map[string]*written{}}
}

// of is what is known of the volume in a folder.
func (w *Writable) of(dir string) *written {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.volumes[dir] == nil {
		w.volumes[dir] = &written{dir: dir, held: map[string]Usage{}, idle: map[string]resting{}}
	}
	return w.volumes[dir]
}

// lane is what a Folder has that functions write to.
type lane struct {
	of       *Writable
	volume   *written
	most     Usage // in the whole volume
	began    Usage
	fresh    bool // it is removed when it is closed
	released bool
	full     bool // a look found it at fault; under the volume's lock
}

// Lend opens a folder in which a sandbox of a function may write until it is closed.
func (w *Writable) Lend(m Mapping, project uuid.UUID, function string, blocked Blocklist) (*Folder, error) {
	if !namePattern.MatchString(function) { // it becomes a name of a folder
		return nil, fmt.Errorf("%.80q is no name of a function", function)
	}
	base, err := Open(m.Name, m.Path, blocked)
	if err != nil {
		return nil, err
	}
	defer func() { _ = base.Close() }() // it was only looked at
	v := w.of(m.Path)
	v.room.Lock() // of this volume alone: a look at much takes long
	defer v.room.Unlock()
	most := Usage{Files: w.entries, Bytes: m.MaxBytes}
	if err := w.makeRoom(v, base, most); err != nil {
		return nil, err
	}
	root, err := base.root()
	if err != nil {
		return nil, fmt.Errorf("opening volume %s: %w", m.Name, err)
	}
	defer root.Close()
	parent := filepath.Join(project.String(), function)
	for n := range MaxLanes {
		if err := root.MkdirAll(parent, parentMode); err != nil { // functions never write there, and another agent removes what is empty
			return nil, fmt.Errorf("making a folder in volume %s: %w", m.Name, err)
		}
		f, err := w.take(v, root, m.Name, filepath.Join(parent, strconv.Itoa(n)), most)
		if f != nil || err != nil {
			return f, err
		}
	}
	return nil, fmt.Errorf("%d sandboxes of the function have volume %s already", MaxLanes, m.Name)
}

// parentMode lets the users of sandboxes through where the agent is root. The lanes themselves belong to one of them each.
const parentMode = 0o711

// take opens one lane, unless another sandbox has it: both results are nil then.
func (w *Writable) take(v *written, root *os.Root, name, below string, most Usage) (*Folder, error) {
	path := filepath.Join(v.dir, below)
	if v.holds(path) {
		return nil, nil //nolint:nilnil // it is the caller's to try the next one
	}
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrNotExist) { // another agent has just removed the empty folders above it
		return nil, nil //nolint:nilnil // the next one is made with what is above it
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making a folder in volume %s: %w", name, err)
	}
	unclose(root, below)
	file, err := openFolder(path)
	if err != nil {
		return nil, fmt.Errorf("opening a folder in volume %s: %w", name, err)
	}
	free, err := lock(file)
	if there, statErr := os.Lstat(path); free && err == nil { // another agent may have removed it before we had the lock
		opened, openedErr := file.Stat()
		free = statErr == nil && openedErr == nil && os.SameFile(there, opened)
	}
	if !free || err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f := &Folder{Name: name, Mode: ReadWrite, path: path, file: file, lane: &lane{of: w, volume: v, most: most}}
	used, _, err := f.tidy(os.Geteuid(), os.Getegid())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening a folder in volume %s: %w", name, err), file.Close())
	}
	f.lane.began = used
	v.hold(path, used)
	return f, nil
}

// unclose opens a lane that its function has closed to everybody, which only root reads otherwise. A link in its place is left alone.
func unclose(root *os.Root, below string) {
	if info, err := root.Lstat(below); err == nil && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
		_ = root.Chmod(below, 0o700) // where that fails, opening it does
	}
}

// OpenFresh makes an empty folder, for functions that write where there is nothing to be kept: it is removed when it is closed.
func (w *Writable) OpenFresh(name, dir string, most int64) (*Folder, error) {
	path, err := os.MkdirTemp(dir, "volume-")
	if err != nil {
		return nil, fmt.Errorf("making an empty volume %s: %w", name, err)
	}
	file, err := openFolder(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making an empty volume %s: %w", name, err), os.Remove(path))
	}
	v := &written{dir: path, held: map[string]Usage{path: {}}, idle: map[string]resting{}}
	l := &lane{of: w, volume: v, most: Usage{Files: w.entries, Bytes: most}, fresh: true}
	return &Folder{Name: name, Mode: ReadWrite, path: path, file: file, lane: l}, nil
}
