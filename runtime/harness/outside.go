//go:build linux

package harness

import "sync/atomic"

// outside is what others than the caller of Run may see of a session, and order
// it to do, at any time.
type outside struct {
	pid     atomic.Int64
	running atomic.Pointer[flight]
	orders  chan string // why to end what runs; holds one
}

func newOutside() *outside { return &outside{orders: make(chan string, 1)} }

// forget drops an order that came when nothing ran.
func (o *outside) forget() {
	select {
	case <-o.orders:
	default:
	}
}

// PID is the process that all processes of the function descend from; 0 when
// there is none.
func (s *Session) PID() int { return int(s.outside.pid.Load()) }

// OutputBytes is how much the shard that runs now has written to stdout and
// stderr so far.
func (s *Session) OutputBytes() int64 {
	f := s.outside.running.Load()
	if f == nil {
		return 0
	}
	return f.stdout.written() + f.stderr.written()
}

// Kill ends the shard that runs now with StatusKilled and this reason, or the
// import when it is that. The session continues with the next shard. When nothing
// runs, nothing happens.
func (s *Session) Kill(reason string) {
	select {
	case s.outside.orders <- reason:
	default: // it is being ended already
	}
}
