//go:build linux

package linux

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ballast are threads of this process that do nothing but count: in a container
// the limit of processes is one for the function and for what watches over it,
// and whatever the latter does not use now the function must not get.
type ballast struct {
	threads []thread
	gone    sync.WaitGroup
}

// thread is one of the ballast.
type thread struct {
	release chan struct{}
	id      int // zero for the program's main thread, which never ends
}

const (
	// idleThreads are those that this process keeps for itself beside the ballast: Go
	// ends a program that cannot start one, and a function may have taken the room.
	idleThreads = 16
	// ballastTries is how often the number of tasks is read until it is right;
	// each takes a few microseconds and changes it by one.
	ballastTries = 10_000
)

// fill adds threads until this process has so many in all, idleThreads of them idle.
func (b *ballast) fill(want int64) error {
	n, err := ownThreads()
	if err != nil || n == want {
		return err
	}
	letGo := holdThreads(idleThreads) // or the ballast would be made of them
	defer letGo()
	for range ballastTries {
		n, err := ownThreads()
		switch {
		case err != nil:
			return err
		case n == want:
			return nil
		case n < want:
			b.add()
		case len(b.threads) == 0:
			return fmt.Errorf("the container has room for %d threads of this process, and there are %d", want, n)
		default:
			awaitEnd(b.remove())
		}
	}
	return fmt.Errorf("this process never came to have %d threads", want)
}

// ownThreads is how many this process has.
func ownThreads() (int64, error) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0, fmt.Errorf("counting the threads of this process: %w", err)
	}
	return int64(len(tasks)), nil
}

func (b *ballast) add() {
	release, ready := make(chan struct{}), make(chan int)
	b.gone.Go(func() {
		runtime.LockOSThread()
		id := unix.Gettid()
		if id == os.Getpid() {
			// Go would park the main thread for good where a goroutine ends that is locked to it.
			defer runtime.UnlockOSThread()
			id = 0
		}
		ready <- id
		<-release // the thread ends with this function, since it is locked to it
	})
	b.threads = append(b.threads, thread{release: release, id: <-ready})
}

// remove lets a thread go, whose number it returns; zero for the main thread, which others use from then on.
func (b *ballast) remove() int {
	last := len(b.threads) - 1
	t := b.threads[last]
	close(t.release)
	b.threads = b.threads[:last]
	return t.id
}

// awaitEnd waits until the kernel has taken a thread off its books: one that is about to end would be counted as there, and the function
// would get its room.
func awaitEnd(thread int) {
	if thread == 0 {
		return
	}
	for range ballastTries {
		if unix.Tgkill(os.Getpid(), thread, 0) != nil {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// drop lets all of them go.
func (b *ballast) drop() {
	for len(b.threads) > 0 {
		b.remove()
	}
	b.gone.Wait()
}

// holdThreads occupies n threads until what it returns is called. From then on they
// are idle: Go keeps them, and starts no other while one of them is.
func holdThreads(n int) (letGo func()) {
	var all, here sync.WaitGroup
	together := make(chan struct{})
	here.Add(n)
	for range n {
		all.Go(func() {
			runtime.LockOSThread() // each on a thread of its own, all at a time
			here.Done()
			<-together
			runtime.UnlockOSThread()
		})
	}
	here.Wait()
	return func() {
		close(together)
		all.Wait()
	}
}
