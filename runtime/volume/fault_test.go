//go:build linux

package volume

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A project that keeps nearly all that the owner allows is at fault when another one needs the rest, whether it has grown last or not.
func TestOneProjectDoesNotStarveTheOthers(t *testing.T) {
	m, w, hog := writableMapping(t, 1000), newWritable(), uuid.New()
	first, second, other := lend(t, w, m, hog, "f"), lend(t, w, m, hog, "g"), lend(t, w, m, uuid.New(), "f")
	put(t, first, "a", 500)
	put(t, second, "a", 490)
	require.NoError(t, LookAt([]*Folder{first, second}))
	put(t, other, "a", 100)
	require.NoError(t, other.Look(), "it keeps least")
	require.NoError(t, second.Look(), "the other lane of its project is larger")
	require.ErrorIs(t, first.Look(), ErrFull)
	require.NoError(t, first.Close())
	require.NoError(t, LookAt([]*Folder{second, other}))
	require.NoError(t, CloseAll([]*Folder{second, other}))
	require.FileExists(t, filepath.Join(other.Path(), "a"))
	require.FileExists(t, filepath.Join(second.Path(), "a"))
	require.NoFileExists(t, filepath.Join(first.Path(), "a"))
}

// What the largest project keeps and does not use goes before anybody is ended.
func TestRestingLanesOfTheLargestProjectGoFirst(t *testing.T) {
	m, w, hog := writableMapping(t, 1000), newWritable(), uuid.New()
	working, small := lend(t, w, m, uuid.New(), "f"), lend(t, w, m, uuid.New(), "f")
	resting := lend(t, w, m, hog, "f")
	put(t, resting, "a", 800)
	put(t, small, "a", 10)
	require.NoError(t, CloseAll([]*Folder{resting, small}))
	put(t, working, "a", 300)
	require.NoError(t, working.Look())
	require.NoDirExists(t, resting.Path())
	require.FileExists(t, filepath.Join(small.Path(), "a"))
	require.NoError(t, working.Close())

	for range 3 { // each has less than the hog has in two lanes, and the hog's are the newest
		f := lend(t, w, m, uuid.New(), "f")
		put(t, f, "a", 40)
		require.NoError(t, f.Close())
	}
	one, two := lend(t, w, m, hog, "f"), lend(t, w, m, hog, "f")
	put(t, one, "a", 200)
	put(t, two, "a", 250)
	require.NoError(t, CloseAll([]*Folder{one, two}))
	next := lend(t, w, m, uuid.New(), "next")
	require.NoDirExists(t, one.Path())
	require.FileExists(t, filepath.Join(small.Path(), "a"))
	require.NoError(t, next.Close())
}

// What is too much is not left on the owner's disk, though nobody has looked while it was written.
func TestReleaseChecksTheBounds(t *testing.T) {
	for name, write := range map[string]func(t *testing.T, f *Folder){
		"bytes": func(t *testing.T, f *Folder) {
			t.Helper()
			put(t, f, "a", 1001)
		},
		"files": func(t *testing.T, f *Folder) {
			t.Helper()
			for n := range 11 {
				put(t, f, strconv.Itoa(n), 0)
			}
		},
		"free": func(t *testing.T, f *Folder) {
			t.Helper()
			put(t, f, "a", 1)
			f.lane.of.keepFree = math.MaxInt64
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, w := writableMapping(t, 1000), newWritable()
			w.entries = 10
			f := lend(t, w, m, uuid.New(), "f")
			write(t, f)
			require.NoError(t, f.Close())
			require.True(t, f.Full())
			left, err := os.ReadDir(f.Path())
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// A lane that another agent has stays, and still counts.
func TestLanesOfAnotherAgentCount(t *testing.T) {
	m, w := writableMapping(t, 1000), newWritable()
	theirs := lend(t, newWritable(), m, uuid.New(), "f")
	put(t, theirs, "a", 700)
	mine := lend(t, w, m, uuid.New(), "f")
	require.FileExists(t, filepath.Join(theirs.Path(), "a"))
	all, _ := w.of(m.Path).total()
	require.Equal(t, Usage{Files: 1, Bytes: 700}, all)
	put(t, mine, "a", 301)
	require.ErrorIs(t, mine.Look(), ErrFull, "nobody else can be ended here")
	require.NoError(t, CloseAll([]*Folder{mine, theirs}))
}

// Where little is free, nobody gets a volume; who wrote to one is ended, and who wrote nothing keeps what there is.
func TestDiskIsNearlyFull(t *testing.T) {
	m, w, project := writableMapping(t, 1000), newWritable(), uuid.New()
	f, quiet := lend(t, w, m, project, "f"), lend(t, w, m, project, "quiet")
	free, err := freeOf(f.file)
	require.NoError(t, err)
	w.keepFree = free + free/2 // the half of it is free
	require.NoError(t, LookAt([]*Folder{f, quiet}))
	put(t, f, "a", 1)
	require.ErrorIs(t, f.Look(), ErrFull)
	require.NoError(t, quiet.Look())
	_, err = w.Lend(m, project, "late", NewBlocklist())
	require.ErrorIs(t, err, ErrDiskFull)
	w.keepFree = 4 * free
	err = quiet.Look()
	require.ErrorIs(t, err, ErrDiskFull)
	require.NotErrorIs(t, err, ErrFull)
	require.NoError(t, CloseAll([]*Folder{f, quiet}))
	require.True(t, f.Full())
	require.False(t, quiet.Full())
}

// Too little room on the disk is made of what is not used.
func TestRestingLanesMakeRoomOnTheDisk(t *testing.T) {
	m, w := writableMapping(t, 1000), newWritable()
	f := lend(t, w, m, uuid.New(), "f")
	put(t, f, "a", 10)
	require.NoError(t, f.Close())
	w.keepFree = math.MaxInt64
	_, err := w.Lend(m, uuid.New(), "g", NewBlocklist())
	require.ErrorIs(t, err, ErrDiskFull)
	require.NoDirExists(t, f.Path())
}

// What goes wrong with the machine is no fault of a function.
func TestErrorsOfTheMachineAreNoFault(t *testing.T) {
	require.True(t, atFault(errTangled))
	require.True(t, atFault(errMany))
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EIO, syscall.ENOMEM} {
		wrapped := &os.PathError{Op: "open", Path: "a", Err: err}
		require.True(t, ofMachine(wrapped))
		require.False(t, atFault(wrapped))
	}
	f := lend(t, newWritable(), writableMapping(t, 1000), uuid.New(), "f")
	put(t, f, "a", 1)
	there := f.path
	f.path += "-gone"
	err := f.Look()
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrFull)
	require.False(t, f.Full())
	f.path = there
	require.NoError(t, f.Close())
	require.FileExists(t, filepath.Join(there, "a"))
}

// A lane that its function has closed blocks neither the next sandbox nor others, also where the agent died meanwhile.
func TestClosedLane(t *testing.T) {
	m, project := writableMapping(t, 1000), uuid.New()
	f := lend(t, newWritable(), m, project, "f")
	put(t, f, "a", 900)
	require.NoError(t, os.Chmod(f.Path(), 0))
	require.NoError(t, f.file.Close()) // the agent dies
	w := newWritable()
	other := lend(t, w, m, uuid.New(), "g")
	require.NoDirExists(t, f.Path(), "it was made room of")
	require.NoError(t, os.MkdirAll(filepath.Dir(f.Path()), parentMode))
	require.NoError(t, os.Mkdir(f.Path(), 0))
	again := lend(t, w, m, project, "f")
	info, err := os.Stat(again.Path())
	require.NoError(t, err)
	require.Equal(t, os.ModeDir|0o700, info.Mode())
	require.NoError(t, os.Chmod(again.Path(), 0))
	require.NoError(t, again.Look())
	require.NoError(t, CloseAll([]*Folder{again, other}))
}

// A volume in which much is looked at holds up no other one.
func TestVolumesDoNotWaitForEachOther(t *testing.T) {
	w, slow := newWritable(), writableMapping(t, 1000)
	working := lend(t, w, slow, uuid.New(), "f")
	v := w.of(slow.Path)
	v.room.Lock() // it is measured
	put(t, working, "a", 10)
	require.NoError(t, working.Look())
	require.NoError(t, lend(t, w, writableMapping(t, 1000), uuid.New(), "f").Close())
	require.NoError(t, working.Close())
	v.room.Unlock()
}

// A guard looks from when it begins until it is stopped, and says what it has found at any later time.
func TestGuard(t *testing.T) {
	f := lend(t, newWritable(), writableMapping(t, 1000), uuid.New(), "f")
	guarded, stop := Guard(t.Context(), []*Folder{f})
	put(t, f, "a", 1000)
	require.NoError(t, context.Cause(guarded))
	put(t, f, "b", 1)
	<-guarded.Done()
	require.ErrorIs(t, context.Cause(guarded), ErrFull)
	require.NoError(t, os.Remove(filepath.Join(f.Path(), "b")))
	require.ErrorIs(t, stop(), ErrFull)
	require.NoError(t, f.Close())
	require.NoFileExists(t, filepath.Join(f.Path(), "a"))
}
