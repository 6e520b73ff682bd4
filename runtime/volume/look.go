package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

const (
	// lookAtLeast is the time between two looks at what a function writes; where one takes long, its fourfold.
	lookAtLeast = 100 * time.Millisecond
	// glanceEvery is the time between two looks at what is free of the disk, which cost next to nothing.
	glanceEvery = 10 * time.Millisecond
)

// ErrFull says that functions keep more in a volume than its owner allows.
var ErrFull = errors.New("functions keep more in it than the owner of this machine allows")

// ErrDiskFull says that the disk below a volume is full, and that nobody can tell by whom. Nothing is removed for it.
var ErrDiskFull = errors.New("the disk below it is full")

// Look measures a folder that functions write to, and says whether all that is in its volume is more than the owner allows. At fault is the project that
// keeps most: lanes of it that are not in use go first, and then the largest one that is. A folder that functions only read never is.
func (f *Folder) Look() error {
	if f.lane == nil {
		return nil
	}
	now, err := measure(f.path, f.lane.of.entries)
	if errors.Is(err, errTangled) && f.file.Chmod(0o700) == nil { // the function has closed the lane itself
		now, err = measure(f.path, f.lane.of.entries)
	}
	if err == nil {
		err = f.weigh(now, f.used())
	} else if atFault(err) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	if errors.Is(err, ErrFull) {
		f.setFull()
	}
	if err != nil {
		return fmt.Errorf("volume %s: %w", f.Name, err)
	}
	return nil
}

// weigh says whether a lane is at fault that has grown from one size to another.
func (f *Folder) weigh(now, before Usage) error {
	v, l := f.lane.volume, f.lane
	v.mu.Lock()
	v.held[f.path] = now
	all, _ := v.total()
	v.mu.Unlock()
	evicting := !all.fits(l.most) && !f.evictHog()
	if err := v.judge(f.path, l.most, evicting); err != nil {
		return err
	}
	free, err := freeOf(f.file)
	switch grown := !now.fits(before); {
	case err != nil:
		return fmt.Errorf("asking how much is free: %w", err)
	case grown && free < l.of.keepFree && v.largest(f.path):
		return fmt.Errorf("%w: less than %d bytes are free below it", ErrFull, l.of.keepFree)
	case free < l.of.keepFree/2: // a file that is open and has no name, or somebody outside
		return fmt.Errorf("%w: less than %d bytes are free", ErrDiskFull, l.of.keepFree/2)
	}
	return nil
}

// evictHog removes lanes that are not in use of the project that keeps most. It is false while others make room, who may come to do so.
func (f *Folder) evictHog() bool {
	v := f.lane.volume
	if f.lane.fresh {
		return true // there are no others
	}
	if !v.room.TryLock() {
		return false
	}
	defer v.room.Unlock()
	root, err := os.OpenRoot(v.dir)
	if err != nil {
		return true // then the largest lane in use is at fault
	}
	defer root.Close()
	f.lane.of.evict(v, root, f.lane.most, true, func() bool { return false })
	return true
}

// judge says which bound a volume is beyond, if a lane is to give way for it: of the projects with a lane in use here the one that keeps most, and of its
// lanes the largest. While others evict lanes, none gives way for a project of which something may go yet that keeps more.
func (v *written) judge(path string, most Usage, evicting bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	all, of := v.total()
	if all.fits(most) || !v.keepsMost(path, all, most, of) {
		return nil
	}
	weight := weigher(all, most)
	for other := range v.idle {
		if evicting && weight(of[projectOf(other)]) > weight(of[projectOf(path)]) {
			return nil
		}
	}
	if all.Bytes > most.Bytes {
		return fmt.Errorf("%w: %d bytes of at most %d", ErrFull, all.Bytes, most.Bytes)
	}
	return fmt.Errorf("%w: %d files and folders of at most %d", ErrFull, all.Files, most.Files)
}

// keepsMost says whether no other project with a lane in use here keeps more, and of this one no lane. The caller holds the lock.
func (v *written) keepsMost(path string, all, most Usage, of map[string]Usage) bool {
	weight, mine := weigher(all, most), projectOf(path)
	for other, used := range v.held {
		if weight(of[projectOf(other)]) > weight(of[mine]) || projectOf(other) == mine && weight(used) > weight(v.held[path]) {
			return false
		}
	}
	return true
}

// largest is keepsMost by bytes, for a disk that is nearly full: who keeps less is not ended for it.
func (v *written) largest(path string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	all, of := v.total()
	return v.keepsMost(path, all, Usage{}, of)
}

func (f *Folder) used() Usage {
	f.lane.volume.mu.Lock()
	defer f.lane.volume.mu.Unlock()
	return f.lane.volume.held[f.path]
}

func (f *Folder) setFull() {
	f.lane.volume.mu.Lock()
	defer f.lane.volume.mu.Unlock()
	f.lane.full = true
}

// Full says whether a look found that what functions keep in the folder is to go. Close removes it.
func (f *Folder) Full() bool {
	if f.lane == nil {
		return false
	}
	f.lane.volume.mu.Lock()
	defer f.lane.volume.mu.Unlock()
	return f.lane.full
}

// Written is how much more lies in the folder than when it was opened, as the last look found it.
func (f *Folder) Written() Usage {
	if f.lane == nil {
		return Usage{}
	}
	now := f.used()
	return Usage{Files: max(0, now.Files-f.lane.began.Files), Bytes: max(0, now.Bytes-f.lane.began.Bytes)}
}

// Guard looks at folders from time to time until stop is called, and ends the context that it returns when one of them is at fault; what is in that one
// goes when it is closed. It is to begin before there is a sandbox and to end after it: functions write while they are imported and between shards as well.
// stop looks once more, and says what is wrong.
func Guard(ctx context.Context, folders []*Folder) (guarded context.Context, stop func() error) {
	if !slices.ContainsFunc(folders, func(f *Folder) bool { return f.lane != nil }) {
		return ctx, func() error { return nil }
	}
	guarded, cancel := context.WithCancelCause(ctx)
	var found error
	done := make(chan struct{})
	go func() {
		defer close(done)
		found = keepLooking(guarded, folders)
		cancel(found)
	}()
	return guarded, func() error {
		cancel(nil)
		if <-done; found != nil {
			return found
		}
		return LookAt(folders)
	}
}

// keepLooking looks until the context ends or a folder is at fault. Where the disk fills so fast that a bound may be passed, it looks at once.
func keepLooking(ctx context.Context, folders []*Folder) error {
	glance := time.NewTicker(glanceEvery)
	defer glance.Stop()
	soonest, next, free := time.Now(), time.Now().Add(lookAtLeast), freeBelow(folders)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-glance.C:
		}
		if now := time.Now(); now.Before(next) && (now.Before(soonest) || !hurries(folders, free)) {
			continue
		}
		began := time.Now()
		if err := LookAt(folders); err != nil {
			return err
		}
		took := time.Since(began)
		soonest, next, free = time.Now().Add(took), time.Now().Add(max(lookAtLeast, 4*took)), freeBelow(folders)
	}
}

// freeBelow is what is free below each folder that functions write to; where nobody can say, a look finds out.
func freeBelow(folders []*Folder) []int64 {
	list := make([]int64, len(folders))
	for i, f := range folders {
		if f.lane != nil {
			list[i], _ = freeOf(f.file)
		}
	}
	return list
}

// hurries says whether since the last look so much was taken of a disk that a folder on it may have passed a bound.
func hurries(folders []*Folder, before []int64) bool {
	for i, free := range freeBelow(folders) {
		if f := folders[i]; f.lane != nil && free < before[i] && (free < f.lane.of.keepFree || before[i]-free > f.left()) {
			return true
		}
	}
	return false
}

// left is how many bytes more functions may keep in the folder's volume.
func (f *Folder) left() int64 {
	f.lane.volume.mu.Lock()
	defer f.lane.volume.mu.Unlock()
	all, _ := f.lane.volume.total()
	return f.lane.most.Bytes - all.Bytes
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
