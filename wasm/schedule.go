package wasm

import (
	"context"
	"slices"
	"sync"
)

// schedule lends a few slots to many projects: one at a time to each, and round
// robin between those that wait, so that a project with a thousand batches
// waiting delays another by one batch.
type schedule struct {
	mu      sync.Mutex
	free    int
	busy    map[string]bool            // projects that hold a slot
	waiting map[string][]chan struct{} // per project, first come first served
	round   []string                   // projects that wait, in the order of their turns
}

func newSchedule(slots int) *schedule {
	return &schedule{free: slots, busy: map[string]bool{}, waiting: map[string][]chan struct{}{}}
}

// acquire waits for the project's turn. The slot must be given back with release.
func (s *schedule) acquire(ctx context.Context, project string) error {
	s.mu.Lock()
	turn := make(chan struct{})
	if len(s.waiting[project]) == 0 {
		s.round = append(s.round, project)
	}
	s.waiting[project] = append(s.waiting[project], turn)
	s.hand()
	s.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.withdraw(project, turn) {
		s.giveBack(project) // the turn came at the same moment
	}
	return context.Cause(ctx)
}

func (s *schedule) release(project string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveBack(project)
}

func (s *schedule) giveBack(project string) {
	s.free++
	delete(s.busy, project)
	s.hand()
}

// hand gives free slots to the projects whose turn it is.
func (s *schedule) hand() {
	for i := 0; i < len(s.round) && s.free > 0; {
		project := s.round[i]
		if s.busy[project] {
			i++
			continue
		}
		turn := s.waiting[project][0]
		s.withdraw(project, turn)
		if len(s.waiting[project]) > 0 {
			// To the end of the round: the others come first now.
			i = slices.Index(s.round, project)
			s.round = append(slices.Delete(s.round, i, i+1), project)
		}
		s.free--
		s.busy[project] = true
		close(turn)
	}
}

// withdraw takes a turn out of the queue; false if it is no longer in it.
func (s *schedule) withdraw(project string, turn chan struct{}) bool {
	queue := s.waiting[project]
	i := slices.Index(queue, turn)
	if i < 0 {
		return false
	}
	if queue = slices.Delete(queue, i, i+1); len(queue) > 0 {
		s.waiting[project] = queue
		return true
	}
	delete(s.waiting, project)
	if i := slices.Index(s.round, project); i >= 0 {
		s.round = slices.Delete(s.round, i, i+1)
	}
	return true
}
