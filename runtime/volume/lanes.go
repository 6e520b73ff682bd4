package volume

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
)

// written is what is known of one volume that functions write to.
type written struct {
	dir  string
	room sync.Mutex // while a sandbox gets a lane; it comes before mu

	mu   sync.Mutex
	held map[string]Usage   // the lanes that sandboxes of this process have, by their paths
	idle map[string]resting // the others
}

// resting is a lane that no sandbox of this process has. One of another agent may have it.
type resting struct {
	size Usage
	used time.Time
}

// projectOf is whose lane lies at a path.
func projectOf(path string) string { return filepath.Base(filepath.Dir(filepath.Dir(path))) }

func (v *written) holds(path string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, held := v.held[path]
	return held
}

func (v *written) hold(path string, used Usage) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.idle, path)
	v.held[path] = used
}

// total is all that is kept, and what each project keeps of it; v.mu is locked.
func (v *written) total() (all Usage, of map[string]Usage) {
	of = map[string]Usage{}
	add := func(path string, u Usage) {
		all, of[projectOf(path)] = all.plus(u), of[projectOf(path)].plus(u)
	}
	for path, u := range v.held {
		add(path, u)
	}
	for path, i := range v.idle {
		add(path, i.size)
	}
	return all, of
}

// weigher is how the bound is counted that a volume is beyond: bytes or, where these fit, files and folders.
func weigher(all, most Usage) func(Usage) int64 {
	if all.Bytes > most.Bytes {
		return func(u Usage) int64 { return u.Bytes }
	}
	return func(u Usage) int64 { return u.Files }
}

// makeRoom measures what no sandbox has, and removes lanes until half of what the owner allows is free, and enough of the disk. v.room is locked.
func (w *Writable) makeRoom(v *written, base *Folder, most Usage) error {
	lanes, err := lanesOf(v.dir)
	if err != nil {
		return fmt.Errorf("looking at volume %s: %w", base.Name, err)
	}
	root, err := base.root()
	if err != nil {
		return fmt.Errorf("looking at volume %s: %w", base.Name, err)
	}
	defer root.Close()
	w.measureIdle(v, root, lanes)
	w.sweep(v, root, time.Now())
	w.evict(v, root, Usage{Files: most.Files / 2, Bytes: most.Bytes / 2}, false, func() bool { return false })
	free, err := freeOf(base.file)
	w.evict(v, root, Usage{Files: -1, Bytes: -1}, false, func() bool {
		if free < w.keepFree {
			free, err = freeOf(base.file)
		}
		return err != nil || free >= w.keepFree
	})
	if err == nil && free < w.keepFree {
		err = fmt.Errorf("%w: less than %d bytes are free below it", ErrDiskFull, w.keepFree)
	}
	if err != nil {
		return fmt.Errorf("making room in volume %s: %w", base.Name, err)
	}
	return nil
}

// measureIdle looks at the lanes that no sandbox has.
func (w *Writable) measureIdle(v *written, root *os.Root, lanes []string) {
	found := map[string]resting{}
	for _, path := range lanes {
		info, err := os.Lstat(path)
		if v.holds(path) || err != nil {
			continue
		}
		unclose(root, relative(v.dir, path))
		size, err := measure(path, w.entries)
		if atFault(err) {
			size = Usage{Files: w.entries + 1} // nobody can tell: it goes
		} else if err != nil {
			w.log.Warn("a folder in a volume cannot be measured", "folder", path, "why", err)
			continue // what was known of it holds
		}
		found[path] = resting{size, info.ModTime()}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.idle
	v.idle = map[string]resting{}
	for _, path := range lanes {
		measured, ok := found[path]
		if !ok { // given back meanwhile, or not to be measured
			measured, ok = before[path]
		}
		if _, held := v.held[path]; ok && !held {
			v.idle[path] = measured
		}
	}
}

// emptyKept is for how long a lane in which nothing lies is kept: whoever makes functions makes folders, and all of them are looked at.
const emptyKept = time.Hour

// sweep removes empty lanes that were not used for a while. v.room is locked.
func (w *Writable) sweep(v *written, root *os.Root, now time.Time) {
	var empty []string
	v.mu.Lock()
	for path, idle := range v.idle {
		if idle.size.Files == 0 && now.Sub(idle.used) > emptyKept {
			empty = append(empty, path)
		}
	}
	v.mu.Unlock()
	for _, path := range empty {
		w.drop(v, root, path)
	}
}

// drop removes a lane that no sandbox has, and forgets it if it is gone.
func (w *Writable) drop(v *written, root *os.Root, path string) (removed bool) {
	removed, err := removeLane(root, v.dir, path)
	if err != nil {
		w.log.Warn("a folder in a volume cannot be removed", "folder", path, "why", err)
	}
	if removed {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.idle, path)
	}
	return removed
}

func relative(dir, path string) string {
	below, err := filepath.Rel(dir, path)
	if err != nil {
		return "." // it never is: lanes lie in their volume
	}
	return below
}

// evict removes lanes that are not in use until no more than that is kept, or enough says so: of the project that keeps most, the one that was not used
// for longest. With hog, only those of the project that keeps more than all others. v.room is locked.
func (w *Writable) evict(v *written, root *os.Root, most Usage, hog bool, enough func() bool) {
	stuck := map[string]bool{}
	for !enough() {
		path := v.next(most, hog, stuck)
		if path == "" {
			return
		}
		if !w.drop(v, root, path) {
			stuck[path] = true // what lies in it still counts
		}
	}
}

// next is the lane to remove; "" for none.
func (v *written) next(most Usage, hog bool, stuck map[string]bool) (path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	all, of := v.total()
	if all.fits(most) {
		return ""
	}
	weight := weigher(all, most)
	before := func(a, b string) bool {
		return cmp.Or(cmp.Compare(weight(of[projectOf(b)]), weight(of[projectOf(a)])), v.idle[a].used.Compare(v.idle[b].used), cmp.Compare(a, b)) < 0
	}
	for p := range v.idle {
		if !stuck[p] && (path == "" || before(p, path)) {
			path = p
		}
	}
	for _, share := range of {
		if hog && path != "" && weight(share) > weight(of[projectOf(path)]) {
			return ""
		}
	}
	return path
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

// removeLane removes a lane that no sandbox of this or another agent has, and says whether it is gone.
func removeLane(root *os.Root, dir, path string) (removed bool, err error) {
	below := relative(dir, path)
	unclose(root, below)
	file, err := openFolder(path)
	if errors.Is(err, fs.ErrNotExist) { // another agent has removed it
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	if free, err := lock(file); !free || err != nil {
		return false, err
	}
	if err := Scrub(path); err != nil {
		return false, err
	}
	if err := root.Remove(below); err != nil {
		return false, err
	}
	for parent := filepath.Dir(below); parent != "." && root.Remove(parent) == nil; parent = filepath.Dir(parent) {
	} // until one has something in it
	return true, nil
}
