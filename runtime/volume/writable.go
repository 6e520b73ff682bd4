package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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
	// lookAtLeast is the time between two looks at what a function writes; where one takes long, its fourfold.
	lookAtLeast = 100 * time.Millisecond
)

// Usage is what lies in a folder that functions write to.
type Usage struct {
	Files int64 `json:"files"` // and folders
	Bytes int64 `json:"bytes"` // sum of sizes, holes included
}

func (u Usage) plus(o Usage) Usage { return Usage{u.Files + o.Files, u.Bytes + o.Bytes} }

// ErrFull says that functions keep more in a volume than its owner allows.
var ErrFull = errors.New("functions keep more in it than the owner of this machine allows")

// Writable shares the volumes that functions write to among sandboxes. Each sandbox gets a folder of its own, its lane, below those of its project and
// function: no project sees what another one has written, and no two sandboxes write to the same files. What it finds there is what an earlier sandbox of
// the same function has left, or nothing. It may be used by several goroutines at once.
type Writable struct {
	entries int64 // MaxWritten

	mu   sync.Mutex
	held map[string]map[string]Usage // of each volume's folder: the lanes that are in use, by their paths
	idle map[string]Usage            // of each volume's folder: what lies in the other lanes
}

// NewWritable knows of no lane in use.
func NewWritable() *Writable {
	return &Writable{entries: MaxWritten, held: map[string]map[string]Usage{}, idle: map[string]Usage{}}
}

// lane is what a Folder has that functions write to.
type lane struct {
	of       *Writable
	volume   string // path of its folder
	most     int64  // bytes in the whole volume
	began    Usage
	fresh    bool // it is removed when it is closed
	released bool
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
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[m.Path] == nil {
		w.held[m.Path] = map[string]Usage{}
	}
	if err := w.makeRoom(m); err != nil {
		return nil, err
	}
	parent := filepath.Join(project.String(), function)
	if err := makeParents(base, parent); err != nil {
		return nil, fmt.Errorf("making a folder in volume %s: %w", m.Name, err)
	}
	for n := range MaxLanes {
		f, err := w.take(m, filepath.Join(m.Path, parent, strconv.Itoa(n)))
		if f != nil || err != nil {
			return f, err
		}
	}
	return nil, fmt.Errorf("%d sandboxes of the function have volume %s already", MaxLanes, m.Name)
}

// makeParents makes the folders above a lane; functions never write to them.
func makeParents(base *Folder, parent string) error {
	root, err := base.root()
	if err != nil {
		return err
	}
	defer root.Close()
	return root.MkdirAll(parent, parentMode)
}

// parentMode lets the users of sandboxes through where the agent is root. The lanes themselves belong to one of them each.
const parentMode = 0o711

// take opens one lane, unless another sandbox has it: both results are nil then.
func (w *Writable) take(m Mapping, path string) (*Folder, error) {
	if _, held := w.held[m.Path][path]; held {
		return nil, nil //nolint:nilnil // it is the caller's to try the next one
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making a folder in volume %s: %w", m.Name, err)
	}
	file, err := openFolder(path)
	if err != nil {
		return nil, fmt.Errorf("opening a folder in volume %s: %w", m.Name, err)
	}
	free, err := lock(file)
	if there, statErr := os.Lstat(path); free && err == nil { // another agent may have removed it before we had the lock
		opened, openedErr := file.Stat()
		free = statErr == nil && openedErr == nil && os.SameFile(there, opened)
	}
	if !free || err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f := &Folder{Name: m.Name, Mode: ReadWrite, path: path, file: file, lane: &lane{of: w, volume: m.Path, most: m.MaxBytes}}
	used, err := f.tidy(os.Geteuid(), os.Getegid())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening a folder in volume %s: %w", m.Name, err), file.Close())
	}
	f.lane.began = used
	w.held[m.Path][path] = used
	return f, nil
}

// makeRoom measures what no sandbox has, and removes lanes until half of what the owner allows is free: the one that was not used for longest first.
func (w *Writable) makeRoom(m Mapping) error {
	lanes, err := lanesOf(m.Path)
	if err != nil {
		return fmt.Errorf("looking at volume %s: %w", m.Name, err)
	}
	type idle struct {
		path string
		used time.Time
		size Usage
	}
	var all []idle
	var sum Usage
	for _, path := range lanes {
		info, err := os.Lstat(path)
		if _, held := w.held[m.Path][path]; held || err != nil {
			continue
		}
		size, err := measure(path, w.entries)
		if err != nil {
			size = Usage{Files: w.entries + 1} // nobody can tell: it goes
		}
		all, sum = append(all, idle{path, info.ModTime(), size}), sum.plus(size)
	}
	slices.SortFunc(all, func(a, b idle) int { return a.used.Compare(b.used) })
	for _, i := range all {
		if total := sum.plus(w.heldOf(m.Path)); total.Bytes <= m.MaxBytes/2 && total.Files <= w.entries/2 {
			break
		}
		if err := removeLane(i.path); err != nil {
			return fmt.Errorf("making room in volume %s: %w", m.Name, err)
		}
		sum.Bytes, sum.Files = sum.Bytes-i.size.Bytes, sum.Files-i.size.Files
	}
	w.idle[m.Path] = sum
	return nil
}

// lanesOf are the folders in a volume that Lend has made. What else lies there is the owner's, and is left alone.
func lanesOf(dir string) (list []string, err error) {
	isProject := func(name string) bool { id, err := uuid.Parse(name); return err == nil && id.String() == name }
	isNumber := func(name string) bool {
		n, err := strconv.Atoi(name)
		return err == nil && n >= 0 && n < MaxLanes && strconv.Itoa(n) == name
	}
	dirs := []string{dir}
	for _, fits := range []func(string) bool{isProject, namePattern.MatchString, isNumber} {
		var below []string
		for _, d := range dirs {
			entries, err := os.ReadDir(d)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.IsDir() && fits(e.Name()) {
					below = append(below, filepath.Join(d, e.Name()))
				}
			}
		}
		dirs = below
	}
	return dirs, nil
}

func (w *Writable) heldOf(path string) (sum Usage) {
	for _, u := range w.held[path] {
		sum = sum.plus(u)
	}
	return sum
}

// removeLane removes a lane that no sandbox of this or another agent has.
func removeLane(path string) error {
	file, err := openFolder(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if free, err := lock(file); !free || err != nil {
		return err
	}
	if err := Scrub(path); err != nil {
		return err
	}
	return os.Remove(path)
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
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held[path] = map[string]Usage{path: {}}
	return &Folder{Name: name, Mode: ReadWrite, path: path, file: file, lane: &lane{of: w, volume: path, most: most, fresh: true}}, nil
}

// Give hands a folder that functions write to, and what lies in it, to a user.
func (f *Folder) Give(uid, gid int) error {
	if f.lane == nil {
		return nil
	}
	_, err := f.tidy(uid, gid)
	return err
}

// Look measures a folder that functions write to, and says whether all that is in its volume is more than the owner allows. Only the one that has grown is
// at fault. A folder that functions only read is never.
func (f *Folder) Look() error {
	if f.lane == nil {
		return nil
	}
	now, err := measure(f.path, f.lane.of.entries)
	if err != nil {
		return fmt.Errorf("volume %s: %w: %w", f.Name, ErrFull, err)
	}
	free, err := freeOf(f.file)
	if err != nil {
		return fmt.Errorf("volume %s: asking how much is free: %w", f.Name, err)
	}
	w := f.lane.of
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.held[f.lane.volume][f.path]
	w.held[f.lane.volume][f.path] = now
	total := w.heldOf(f.lane.volume).plus(w.idle[f.lane.volume])
	switch {
	case free < KeepFree:
		return fmt.Errorf("volume %s: %w: less than %d bytes are free below it", f.Name, ErrFull, KeepFree)
	case now.Bytes <= before.Bytes && now.Files <= before.Files && now.Bytes <= f.lane.most && now.Files <= w.entries:
		return nil
	case total.Bytes > f.lane.most:
		return fmt.Errorf("volume %s: %w: %d bytes of at most %d", f.Name, ErrFull, total.Bytes, f.lane.most)
	case total.Files > w.entries:
		return fmt.Errorf("volume %s: %w: %d files and folders of at most %d", f.Name, ErrFull, total.Files, w.entries)
	}
	return nil
}

// Written is how much more lies in the folder than when it was opened, as the last look found it.
func (f *Folder) Written() Usage {
	if f.lane == nil {
		return Usage{}
	}
	f.lane.of.mu.Lock()
	defer f.lane.of.mu.Unlock()
	now := f.lane.of.held[f.lane.volume][f.path]
	return Usage{Files: max(0, now.Files-f.lane.began.Files), Bytes: max(0, now.Bytes-f.lane.began.Bytes)}
}

// Empty removes what functions have written to a folder.
func (f *Folder) Empty() error {
	if f.lane == nil {
		return nil
	}
	return Scrub(f.path)
}

// release gives a lane back: what may be kept is kept for the next sandbox of the function. No process of this one lives.
func (f *Folder) release() error {
	if f.lane == nil || f.lane.released {
		return nil
	}
	f.lane.released = true
	w := f.lane.of
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.held[f.lane.volume], f.path)
	if f.lane.fresh {
		delete(w.held, f.lane.volume)
		return errors.Join(Scrub(f.path), os.Remove(f.path))
	}
	left, err := f.tidy(os.Geteuid(), os.Getegid())
	w.idle[f.lane.volume] = w.idle[f.lane.volume].plus(left)
	now := time.Now() // a function may have said that it used it tomorrow
	return errors.Join(err, os.Chtimes(f.path, now, now))
}

// tidy gives a lane and all in it to a user, and removes what is neither file, folder nor link: devices, pipes and sockets. Files lose the bits by which
// programs run as their owner. One that is nested too deeply is emptied. No process of a function lives meanwhile.
func (f *Folder) tidy(uid, gid int) (sum Usage, err error) {
	if err := f.file.Chmod(0o700); err != nil {
		return sum, err
	}
	if os.Geteuid() == 0 {
		if err := f.file.Chown(uid, gid); err != nil {
			return sum, err
		}
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return sum, err
	}
	defer root.Close()
	sum, err = walk(root, f.lane.of.entries, true, func(name string, info fs.FileInfo) error { return tidyOne(root, name, info, uid, gid) })
	if err == nil {
		return sum, nil
	}
	return Usage{}, Scrub(f.path)
}

func tidyOne(root *os.Root, name string, info fs.FileInfo, uid, gid int) error {
	mode := info.Mode()
	if !mode.IsRegular() && !mode.IsDir() && mode.Type() != fs.ModeSymlink {
		return root.Remove(name)
	}
	if os.Geteuid() == 0 {
		if err := root.Lchown(name, uid, gid); err != nil {
			return err
		}
	}
	if mode.IsRegular() && mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 {
		return root.Chmod(name, mode.Perm())
	}
	return nil
}

// measure looks at all that lies in a lane, while a function is at work there.
func measure(path string, most int64) (Usage, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return Usage{}, err
	}
	defer root.Close()
	return walk(root, most, false, func(string, fs.FileInfo) error { return nil })
}

// errTangled says that a lane cannot be looked at as a whole.
var errTangled = errors.New("its folders are closed, or nested too deeply")

// walk visits all that lies in a lane. A function that closes folders to its user hides what is in them: they are opened again, and whole says that nothing
// may stay hidden; otherwise what vanishes meanwhile is no error.
func walk(root *os.Root, most int64, whole bool, visit func(name string, info fs.FileInfo) error) (sum Usage, err error) {
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			return errTangled
		}
		if err != nil {
			if whole {
				return err
			}
			return nil // the function is at work there; the next look sees more
		}
		if name == "." {
			return nil
		}
		switch {
		case strings.Count(name, "/") >= MaxDepth:
			return errTangled
		case sum.Files >= most:
			return fmt.Errorf("there are more than %d files and folders", most)
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it is gone
		}
		sum.Files++
		if info.Mode().IsRegular() {
			sum.Bytes += info.Size()
		}
		if d.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
			_ = root.Chmod(name, 0o700) // where that fails, reading it does
		}
		return visit(name, info)
	})
	return sum, err
}

// Guard looks at folders from time to time until stop is called, and ends the context that it returns when functions keep more in one of them than its
// owner allows; what is in that one goes when it is emptied. stop looks once more, and says what is wrong.
func Guard(ctx context.Context, folders []*Folder) (guarded context.Context, stop func() error) {
	if !slices.ContainsFunc(folders, func(f *Folder) bool { return f.lane != nil }) {
		return ctx, func() error { return nil }
	}
	guarded, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		keepLooking(guarded, folders, cancel)
	}()
	return guarded, func() error {
		cancel(nil)
		<-done
		if err := context.Cause(guarded); errors.Is(err, ErrFull) {
			return err
		}
		return LookAt(folders)
	}
}

func keepLooking(ctx context.Context, folders []*Folder, cancel context.CancelCauseFunc) {
	wait := time.NewTimer(lookAtLeast)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		began := time.Now()
		if err := LookAt(folders); err != nil {
			cancel(err)
			return
		}
		wait.Reset(max(lookAtLeast, 4*time.Since(began)))
	}
}

// LookAt looks at several folders.
func LookAt(folders []*Folder) error {
	for _, f := range folders {
		if err := f.Look(); err != nil {
			return err
		}
	}
	return nil
}
