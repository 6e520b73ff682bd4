//go:build linux

package harness

// SetJob has the next shards be those of another job: nothing but their seeds depends on it. An interpreter that has died
// meanwhile is replaced with the next shard.
func (s *Session) SetJob(job string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg.Settings.Job = job
	if s.z == nil {
		return nil
	}
	select {
	case <-s.z.exited:
		return s.discard()
	default:
		return nil
	}
}
