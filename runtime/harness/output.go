//go:build linux

package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// output is a pipe that is read into a tail. It is not read before start: what
// a short shard writes fits into the pipe, and is read when the shard is gone.
type output struct {
	fd    int      // the reading end, until there is a file
	file  *os.File // the same, once it is read all the time
	done  chan struct{}
	limit int64  // bytes
	over  func() // called once when more than limit have come

	mu   sync.Mutex
	tail *tail
}

// newFeed returns the end to read from, blocking, and the writing end.
func newFeed() (int, *os.File, error) {
	fds, err := pipe(1)
	if err != nil {
		return -1, nil, err
	}
	return fds[0], os.NewFile(uintptr(fds[1]), "pipe"), nil
}

// pipe makes a pipe with one end in this process.
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

// newOutput returns the reading side, and the end to write to, blocking as a
// program expects it.
func newOutput(limit int64, over func()) (*output, int, error) {
	fds, err := pipe(0)
	if err != nil {
		return nil, -1, err
	}
	return &output{fd: fds[0], limit: limit, over: over, tail: newTail(TailBytes)}, fds[1], nil
}

// start reads all the time from now on.
func (o *output) start() {
	if o.file != nil {
		return
	}
	o.file, o.done = os.NewFile(uintptr(o.fd), "pipe"), make(chan struct{})
	go o.drain()
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
	if o.file == nil {
		content, ended := readNow(o.fd)
		o.take(content)
		if ended {
			_ = unix.Close(o.fd) // all is read
			return o.tail
		}
		o.start()
	}
	// A pipe that cannot have a deadline would be one that is closed already.
	_ = o.file.SetReadDeadline(deadline)
	<-o.done
	_ = o.file.Close()
	return o.tail
}

// readNow reads what is in a pipe, and says whether that was its end.
func readNow(fd int) (content []byte, ended bool) {
	buffer := make([]byte, 0, leastRead)
	for {
		if len(buffer) == cap(buffer) {
			buffer = append(make([]byte, 0, cap(buffer)+mostRead), buffer...)
		}
		n, err := unix.Read(fd, buffer[len(buffer):cap(buffer)])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return buffer, false
		case n == 0:
			return buffer, true
		default:
			buffer = buffer[:len(buffer)+n]
		}
	}
}

// answer is the result pipe, which is read like an output.
type answer struct {
	fd     int
	file   *os.File
	most   int64  // bytes of a result
	full   func() // called as soon as a result larger than that is announced
	frames chan frame
}

func newAnswer(most int64, full func()) (*answer, int, error) {
	fds, err := pipe(0)
	if err != nil {
		return nil, -1, err
	}
	return &answer{fd: fds[0], most: most, full: full}, fds[1], nil
}

// start reads all the time from now on; before is what was read already.
func (a *answer) start(before []byte) {
	if a.file != nil {
		return
	}
	a.file, a.frames = os.NewFile(uintptr(a.fd), "pipe"), make(chan frame, 1)
	go func() { a.frames <- readFrame(io.MultiReader(bytes.NewReader(before), a.file), a.most, a.full) }()
}

// finish waits for the end of the stream, not longer than the deadline, and
// closes it.
func (a *answer) finish(deadline time.Time) frame {
	if a.file == nil {
		content, ended := readNow(a.fd)
		if ended {
			_ = unix.Close(a.fd) // all is read
			return readFrame(bytes.NewReader(content), a.most, a.full)
		}
		a.start(content)
	}
	_ = a.file.SetReadDeadline(deadline)
	f := <-a.frames
	_ = a.file.Close()
	return f
}
