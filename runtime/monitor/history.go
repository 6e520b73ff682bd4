package monitor

import (
	"time"

	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// tier is one resolution of a history.
type tier struct {
	every time.Duration // one entry stands for so long
	keep  int           // entries
}

// tiers are what is kept of a sandbox: two minutes to the second, twenty to ten seconds, and four hours to the two minutes, which is
// longer than a shard may take. That is 360 samples, about 40 KiB.
func tiers() []tier {
	return []tier{{time.Second, 120}, {10 * time.Second, 120}, {2 * time.Minute, 120}}
}

// history keeps samples in rings, each coarser than the one before; an entry of a coarser one holds the peaks of its time.
type history struct {
	rings []ring
}

type ring struct {
	tier
	entries []threshold.Sample
	next    int // where the oldest is, once the ring is full
}

func newHistory() *history {
	h := &history{}
	for _, t := range tiers() {
		h.rings = append(h.rings, ring{tier: t})
	}
	return h
}

func (h *history) add(s threshold.Sample) {
	for i := range h.rings {
		h.rings[i].add(s)
	}
}

func (r *ring) add(s threshold.Sample) {
	if last := r.last(); last != nil && s.At.Truncate(r.every).Equal(last.At.Truncate(r.every)) {
		*last = threshold.Peak(*last, s)
		return
	}
	if len(r.entries) < r.keep {
		r.entries = append(r.entries, s)
		return
	}
	r.entries[r.next] = s
	r.next = (r.next + 1) % r.keep
}

func (r *ring) last() *threshold.Sample {
	if len(r.entries) == 0 {
		return nil
	}
	return &r.entries[(r.next+len(r.entries)-1)%len(r.entries)]
}

// list returns the ring's samples, the oldest first.
func (r *ring) list() []threshold.Sample {
	return append(append([]threshold.Sample{}, r.entries[r.next:]...), r.entries[:r.next]...)
}

// list returns all samples, the oldest first: of each stretch of time the finest that there is.
func (h *history) list() []threshold.Sample {
	var all []threshold.Sample
	for i := len(h.rings) - 1; i >= 0; i-- {
		finer := h.rings[max(i-1, 0)].list()
		for _, s := range h.rings[i].list() {
			if i == 0 || len(finer) == 0 || s.At.Before(finer[0].At) {
				all = append(all, s)
			}
		}
	}
	return all
}
