package main

import (
	"fmt"

	"github.com/ostraka/ostraka/functions/partition"
)

// shardSet is a set of shards by their numbers, a bit each.
type shardSet struct {
	words []uint64
	low   int64 // all below are in the set, or are not asked for
}

// add puts a shard in. A number that no shard has is refused: it would take memory without bound.
func (s *shardSet) add(shard int64) error {
	if shard < 0 || shard >= partition.MaxShards {
		return fmt.Errorf("a result is of shard %d, and a job has at most %d", shard, partition.MaxShards)
	}
	word := int(shard / 64)
	if word >= len(s.words) {
		s.words = append(s.words, make([]uint64, word+1-len(s.words))...)
	}
	s.words[word] |= 1 << (shard % 64)
	return nil
}

func (s *shardSet) has(shard int64) bool {
	word := shard / 64
	return shard >= 0 && word < int64(len(s.words)) && s.words[word]>>(shard%64)&1 == 1
}

// first is the lowest shard that is asked for and not in the set.
func (s *shardSet) first() int64 {
	for s.has(s.low) {
		s.low++
	}
	return s.low
}
