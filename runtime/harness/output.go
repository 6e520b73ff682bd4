package harness

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Sizes of the buffer that a pipe is read into: most shards print nothing.
const (
	leastRead = 4 << 10
	mostRead  = 64 << 10
)

// output is a pipe that is read into a tail all the time.
type output struct {
	file  *os.File
	done  chan struct{}
	limit int64  // bytes
	over  func() // called once when more than limit have come

	mu   sync.Mutex
	tail *tail
}

// newPipe returns the reading end, which can have deadlines, and the end to
// write to, as a program expects it: blocking.
func newPipe() (*os.File, int, error) {
	fds, err := pipe(0)
	if err != nil {
		return nil, -1, err
	}
	return os.NewFile(uintptr(fds[0]), "pipe"), fds[1], nil
}

// newFeed returns the end to read from, blocking, and the writing end.
func newFeed() (int, *os.File, error) {
	fds, err := pipe(1)
	if err != nil {
		return -1, nil, err
	}
	return fds[0], os.NewFile(uintptr(fds[1]), "pipe"), nil
}

// pipe makes a pipe of which one end is this process's.
func pipe(ours int) (fds [2]int, err error) {
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return fds, fmt.Errorf("making a pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[ours], true); err != nil {
		_, _ = unix.Close(fds[0]), unix.Close(fds[1]) // the first trouble says more
		return fds, fmt.Errorf("making a pipe: %w", err)
	}
	return fds, nil
}

// newOutput returns the reading side, and the end to write to.
func newOutput(limit int64, over func()) (*output, int, error) {
	r, w, err := newPipe()
	if err != nil {
		return nil, -1, err
	}
	o := &output{file: r, done: make(chan struct{}), limit: limit, over: over, tail: newTail(TailBytes)}
	go o.drain()
	return o, w, nil
}

// drain reads to the end, or to the read deadline, which is no trouble: what
// was there has been read.
func (o *output) drain() {
	defer close(o.done)
	buffer := make([]byte, leastRead)
	for {
		n, err := o.file.Read(buffer)
		o.take(buffer[:n])
		if err != nil {
			return
		}
		if n == len(buffer) && n < mostRead {
			buffer = make([]byte, mostRead)
		}
	}
}

func (o *output) take(p []byte) {
	o.mu.Lock()
	before := o.tail.n
	_, _ = o.tail.Write(p) // it never fails
	passed := before <= o.limit && o.tail.n > o.limit
	o.mu.Unlock()
	if passed {
		o.over()
	}
}

// written is how many bytes have come so far.
func (o *output) written() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tail.n
}

// finish waits for the end of the stream, not longer than the deadline, and
// closes it.
func (o *output) finish(deadline time.Time) *tail {
	// A pipe that cannot have a deadline would be one that is closed already.
	_ = o.file.SetReadDeadline(deadline)
	<-o.done
	_ = o.file.Close()
	return o.tail
}
