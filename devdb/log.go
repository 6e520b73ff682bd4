package devdb

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// MaxLogBytes bounds postgres.log; at that size it becomes postgres.log.1, whose
// predecessor goes. The two keep weeks of a quiet server and never fill a disk.
const MaxLogBytes = 8 << 20

// boundedLog copies the server's output to a file of bounded size and remembers
// its end for error messages.
type boundedLog struct {
	path   string
	limit  int64
	report *slog.Logger

	read *os.File
	done chan struct{}

	mu   sync.Mutex
	tail []byte

	// Only the copying goroutine touches these.
	file   *os.File
	size   int64
	failed bool
}

// openLog starts the copying. The caller gives the returned end to the server
// and closes its own copy.
func openLog(path string, report *slog.Logger) (*boundedLog, *os.File, error) {
	l := &boundedLog{path: path, limit: MaxLogBytes, report: report, done: make(chan struct{})}
	if err := l.open(); err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		l.file.Close()
		return nil, nil, fmt.Errorf("making a pipe for the database's log: %w", err)
	}
	l.read = r
	go l.copy()
	return l, w, nil
}

func (l *boundedLog) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("opening the database's log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("opening the database's log: %w", err)
	}
	l.file, l.size = f, info.Size()
	return nil
}

// copy runs until every process of the server has closed its end. It reads on
// when the file cannot be written, since a full pipe would stop the server.
func (l *boundedLog) copy() {
	defer close(l.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := l.read.Read(buf)
		if n > 0 {
			l.remember(buf[:n])
			l.keep(buf[:n])
		}
		if err != nil {
			break
		}
	}
	if l.file != nil {
		l.file.Close()
	}
}

func (l *boundedLog) remember(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, b...)
	if over := len(l.tail) - maxReport; over > 0 {
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
}

func (l *boundedLog) keep(b []byte) {
	if err := l.write(b); err != nil && !l.failed {
		l.failed = true
		l.report.Error("writing the database's log failed; lines are being lost", "error", err)
	}
}

func (l *boundedLog) write(b []byte) error {
	if l.file == nil || (l.size > 0 && l.size+int64(len(b)) > l.limit) {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	n, err := l.file.Write(b)
	l.size += int64(n)
	return err
}

func (l *boundedLog) rotate() error {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
	if err := os.Rename(l.path, l.path+".1"); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("rotating the database's log: %w", err)
	}
	return l.open()
}

// lastWords is the end of what the server wrote.
func (l *boundedLog) lastWords() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.tail)
}

// drain waits for the rest of a dead server's output, but not for ever.
func (l *boundedLog) drain(limit time.Duration) {
	select {
	case <-l.done:
	case <-time.After(limit):
	}
	l.close()
}

// close ends the copying.
func (l *boundedLog) close() {
	l.read.Close()
	<-l.done
}
