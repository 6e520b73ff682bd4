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

// Rate is the share of results that are drawn, in ten-thousandths: a draw is kept
// with it in two bytes, and repeated with exactly the same.
type Rate int16

// EveryResult is the rate at which all are drawn.
const EveryResult Rate = 10_000

// RateOf is the least rate that is not below a share.
func RateOf(share float64) Rate {
	return Rate(min(float64(EveryResult), max(0, math.Ceil(share*float64(EveryResult)-rounding))))
}

// Share is the rate as a part of one.
func (r Rate) Share() float64 { return float64(r) / float64(EveryResult) }

// JobSecret is the secret by which the audits of one job are drawn. It is made
// from its project's, and says nothing about that or about other jobs': it is shown
// to everybody when the job is over.
func JobSecret(project []byte, job string) []byte {
	h := hmac.New(sha256.New, project)
	h.Write([]byte("ostraka draws of one job\x00"))
	h.Write([]byte(job))
	return h.Sum(nil)
}

// Commitment is what is recorded of a job's secret before anybody works for it.
func Commitment(secret []byte) [sha256.Size]byte { return sha256.Sum256(secret) }

// QuorumAgent stands for the agents in draws about what a quorum has accepted.
const QuorumAgent = "quorum"

// Draw says whether an agent's result is audited at once. It is decided by the
// job's secret, which no agent knows: it cannot be foreseen, and it comes
// out the same whenever it is asked. Ask only when the result is in.
func Draw(secret []byte, job string, shard int64, agent string, rate Rate) bool {
	return NewDraws(secret, job, agent).Draw(shard, rate)
}

// Draws are those of one agent in one job. They are for one goroutine.
type Draws struct{ lot *lot }

// NewDraws prepares the draws of one agent in one job.
func NewDraws(secret []byte, job, agent string) Draws {
	return Draws{newLot(secret, "live", job, agent)}
}

// Draw says whether the agent's result of this shard is audited at once.
func (d Draws) Draw(shard int64, rate Rate) bool {
	const unit = 1 << 53 // what a float64 holds exactly
	return rate >= EveryResult || float64(d.lot.of(shard)>>11)/unit < rate.Share()
}

func windowLot(secret []byte, job, agent string, window int64) *lot {
	return newLot(secret, "window", job, agent, string(binary.BigEndian.AppendUint64(nil, uint64(window))))
}

// ticket is the place of a result in the draw of its window: the least are drawn.
type ticket struct {
	lot   uint64
	shard int64
}

func (t ticket) compare(o ticket) int {
	return cmp.Or(cmp.Compare(t.lot, o.lot), cmp.Compare(t.shard, o.shard))
}

// Choose draws k results of a window for audit, by the job's secret, in the
// order in which they are drawn: the first k of Choose(…, k+1) are Choose(…, k),
// so that an audit that is void is replaced by the next.
func Choose(secret []byte, job, agent string, window int64, shards []int64, k int) []int64 {
	l := windowLot(secret, job, agent, window)
	tickets := make([]ticket, len(shards))
	for i, shard := range shards {
		tickets[i] = ticket{l.of(shard), shard}
	}
	slices.SortFunc(tickets, ticket.compare)
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
