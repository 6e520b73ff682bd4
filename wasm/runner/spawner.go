package runner

import (
	"errors"
	"runtime"
	"sync"
)

// Spawner starts runners. The kernel kills a runner when the thread that
// started it ends (Pdeathsig follows the thread, not the process), so they are
// all started by one goroutine that keeps one thread for itself.
type Spawner struct {
	requests chan chan spawned
	stop     chan struct{}
	once     sync.Once
	done     chan struct{}
}

type spawned struct {
	process *Process
	err     error
}

// errStopped is returned by Start after Stop.
var errStopped = errors.New("starting a wasm runner: the spawner was stopped")

// NewSpawner starts the goroutine; Stop ends it.
func NewSpawner() *Spawner {
	s := &Spawner{requests: make(chan chan spawned), stop: make(chan struct{}), done: make(chan struct{})}
	go s.loop()
	return s
}

func (s *Spawner) loop() {
	// Never unlocked: the thread ends with the goroutine, and with it, should
	// any be left, the runners.
	runtime.LockOSThread()
	defer close(s.done)
	for {
		select {
		case answer := <-s.requests:
			p, err := start()
			answer <- spawned{p, err}
		case <-s.stop:
			return
		}
	}
}

// Start starts a runner.
func (s *Spawner) Start() (*Process, error) {
	answer := make(chan spawned, 1)
	select {
	case s.requests <- answer:
		r := <-answer
		return r.process, r.err
	case <-s.stop:
		return nil, errStopped
	}
}

// Stop ends the goroutine. Runners should have been closed before.
func (s *Spawner) Stop() {
	s.once.Do(func() { close(s.stop) })
	<-s.done
}
