package verify

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"slices"
)

// Draw says whether an agent's result is audited at once. It is decided by the
// project's secret, which no agent knows: it cannot be foreseen, and it comes
// out the same whenever it is asked. Ask only when the result is in.
func Draw(secret []byte, job string, shard int64, agent string, rate float64) bool {
	return NewDraws(secret, job, agent).Draw(shard, rate)
}

// Draws are those of one agent in one job. They are for one goroutine.
type Draws struct{ lot *lot }

// NewDraws prepares the draws of one agent in one job.
func NewDraws(secret []byte, job, agent string) Draws {
	return Draws{newLot(secret, "live", job, agent)}
}

// Draw says whether the agent's result of this shard is audited at once.
func (d Draws) Draw(shard int64, rate float64) bool {
	const unit = 1 << 53 // what a float64 holds exactly
	return rate >= 1 || float64(d.lot.of(shard)>>11)/unit < rate
}

// Choose draws k results of a window for audit, by the project's secret, in the
// order in which they are drawn: the first k of Choose(…, k+1) are Choose(…, k),
// so that an audit that is void is replaced by the next.
func Choose(secret []byte, job, agent string, window int64, shards []int64, k int) []int64 {
	type ticket struct {
		lot   uint64
		shard int64
	}
	l := newLot(secret, "window", job, agent, string(binary.BigEndian.AppendUint64(nil, uint64(window))))
	tickets := make([]ticket, len(shards))
	for i, shard := range shards {
		tickets[i] = ticket{l.of(shard), shard}
	}
	slices.SortFunc(tickets, func(a, b ticket) int {
		return cmp.Or(cmp.Compare(a.lot, b.lot), cmp.Compare(a.shard, b.shard))
	})
	chosen := make([]int64, min(max(k, 0), len(tickets)))
	for i := range chosen {
		chosen[i] = tickets[i].shard
	}
	return chosen
}

// lot draws numbers from a secret and a purpose.
type lot struct {
	mac    hash.Hash
	prefix []byte
	number [8]byte
	sum    [sha256.Size]byte
}

func newLot(secret []byte, purpose ...string) *lot {
	l := &lot{mac: hmac.New(sha256.New, secret)}
	for _, p := range purpose {
		l.prefix = binary.BigEndian.AppendUint32(l.prefix, uint32(min(len(p), math.MaxUint32)))
		l.prefix = append(l.prefix, p...)
	}
	return l
}

func (l *lot) of(shard int64) uint64 {
	l.mac.Reset()
	l.mac.Write(l.prefix)
	binary.BigEndian.PutUint64(l.number[:], uint64(shard))
	l.mac.Write(l.number[:])
	return binary.BigEndian.Uint64(l.mac.Sum(l.sum[:0]))
}
