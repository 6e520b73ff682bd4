package agent

import "time"

const (
	// MaxBatch is the largest number of shards in one lease, as the server has it.
	MaxBatch = 1024
	// firstBatch is the size of the first lease, when nothing is known about the work.
	firstBatch = 2
	// maxGrowth bounds how much larger than the last a lease may be: a few quick shards say little about the next.
	maxGrowth = 4
	// DefaultLeaseWork is how much work a lease should be: between the ten seconds from which asking costs nothing and the minute up
	// to which the last shards of a job may wait for one slow lease. It is planned for at most half of a lease's time to live.
	DefaultLeaseWork = 15 * time.Second
)

// BatchSizer chooses how many shards a worker asks for, from how long the last ones took.
type BatchSizer struct {
	target time.Duration
	size   int
	each   time.Duration // smoothed time of one shard
}

// NewBatchSizer plans leases of so much work.
func NewBatchSizer(target time.Duration) *BatchSizer {
	return &BatchSizer{target: target, size: firstBatch}
}

// Next is how many shards to ask for now.
func (s *BatchSizer) Next() int { return s.size }

// Done tells of a lease: how many shards were executed, in how long, and how long the lease would have lasted. No more than half
// of that is planned for, so that a lease is over before it expires even where its heartbeats do not get through.
func (s *BatchSizer) Done(shards int, took, ttl time.Duration) {
	if shards == 0 {
		s.size = max(1, s.size/2) // nothing was finished: ask for less, whatever the reason was
		return
	}
	each := max(took/time.Duration(shards), time.Microsecond)
	if s.each == 0 {
		s.each = each
	} else {
		s.each = (s.each + each) / 2
	}
	target := s.target
	if ttl > 0 {
		target = min(target, ttl/2)
	}
	s.size = max(1, min(MaxBatch, s.size*maxGrowth, int(target/s.each)))
}
