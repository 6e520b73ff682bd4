package agent

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
)

// Liar makes an agent cheat: it executes shards as it should and reports something else for some of them. It exists so that
// everybody can watch a cheat being caught, and so that tests can.
type Liar struct {
	// Probability is how often it lies, 0 to 1.
	Probability float64
	// Seed decides which shards it lies about, and what it says. Liars with different seeds do not agree on a wrong answer.
	Seed uint64
}

func (l *Liar) check() error {
	if !(l.Probability >= 0 && l.Probability <= 1) {
		return fmt.Errorf("a liar cannot lie with probability %v: choose 0 to 1", l.Probability)
	}
	return nil
}

// lie decides about one shard of a function: whether to lie, and random bits to make the lie of. It depends on nothing else, so
// a liar that is asked again says the same.
func (l *Liar) lie(function string, shard int64) (random uint64, lies bool) {
	h := sha256.New()
	fmt.Fprintf(h, "ostraka-liar/1\n%d\n%s\n%d\n", l.Seed, function, shard)
	sum := h.Sum(nil)
	chance := float64(binary.BigEndian.Uint64(sum)>>11) / (1 << 53)
	return binary.BigEndian.Uint64(sum[8:]), chance < l.Probability
}

// lyingSandbox wraps a sandbox in the liar's behaviour. Other kinds of cheats are other wrappers.
type lyingSandbox struct {
	Sandbox
	liar *Liar
	log  *slog.Logger
}

// Open implements Sandbox.
func (s lyingSandbox) Open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) (Session, error) {
	session, err := s.Sandbox.Open(ctx, b, settings)
	if err != nil {
		return nil, err
	}
	return lyingSession{session, s, b.Digest}, nil
}

type lyingSession struct {
	Session
	sandbox  lyingSandbox
	function string // digest
}

// Run implements Session.
func (s lyingSession) Run(ctx context.Context, shard int64, input []byte) (harness.Result, error) {
	r, err := s.Session.Run(ctx, shard, input)
	if err != nil || r.Status != harness.StatusOK {
		return r, err
	}
	random, lies := s.sandbox.liar.lie(s.function, shard)
	if !lies {
		return r, nil
	}
	wrong := perturb([]byte(r.Output), random)
	s.sandbox.log.Warn("LYING about a shard, as this agent was told to", "shard", shard, "digest", canonical.Digest(wrong))
	r.Output, r.OutputDigest, r.OutputBytes = string(wrong), canonical.Digest(wrong), int64(len(wrong))
	return r, nil
}
