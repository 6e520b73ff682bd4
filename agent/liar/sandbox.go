package liar

import (
	"context"
	"sync"
	"time"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
)

// sandbox is a sandbox whose results are not to be trusted.
type sandbox struct {
	isolation.Sandbox
	mind *mind
}

// Open implements isolation.Sandbox.
func (s *sandbox) Open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) (isolation.Session, error) {
	inner, err := s.Sandbox.Open(ctx, b, settings)
	if err != nil {
		return nil, err
	}
	return &session{Session: inner, mind: s.mind, function: b.Digest}, nil
}

type session struct {
	isolation.Session
	mind     *mind
	function string // digest
}

// Run implements isolation.Session.
func (s *session) Run(ctx context.Context, shard int64, input []byte) (harness.Result, error) {
	random, lies := s.mind.decides(s.function, shard)
	if lies && s.mind.options.Kind == Lazy {
		if r, known := s.mind.idle(s.function, shard); known {
			return r, nil
		}
	}
	r, err := s.Session.Run(ctx, shard, input)
	if err != nil || r.Status != harness.StatusOK {
		return r, err
	}
	if wrong := s.mind.says(s.function, shard, []byte(r.Output), random, lies); wrong != nil {
		r.Output, r.OutputDigest, r.OutputBytes = string(wrong), canonical.Digest(wrong), int64(len(wrong))
	}
	s.mind.remember(s.function, r)
	return r, nil
}

// mind is what a liar remembers. It is shared by the agent's workers.
type mind struct {
	options Options

	mu    sync.Mutex
	given int64                     // results so far
	first map[string][]byte         // for each function, the answer that a constant liar gives
	last  map[string]harness.Result // for each function, the result that a lazy one gives again
}

// maxRemembered is for how many functions a liar remembers answers; then it forgets all.
const maxRemembered = 64

// decides says whether to lie about a shard: not before it has been honest for as long as it is told to.
func (m *mind) decides(function string, shard int64) (random uint64, lies bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.given++
	random, lies = m.options.lie(function, shard)
	return random, lies && m.given > m.options.After
}

// says is the wrong answer, or nil where the right one is given.
func (m *mind) says(function string, shard int64, right []byte, random uint64, lies bool) []byte {
	if !lies || m.options.Kind == Lazy {
		return nil
	}
	wrong := perturb(right, random)
	if m.options.Kind == Constant {
		wrong = m.constant(function, wrong)
	}
	if string(wrong) == string(right) {
		return nil // of all shards this is the one to which the constant answer belongs
	}
	m.options.Log.Warn("LYING about a shard, as this agent was told to", "kind", m.options.Kind, "shard", shard, "digest", canonical.Digest(wrong))
	return wrong
}

// constant is the first wrong answer that there was for a function.
func (m *mind) constant(function string, wrong []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first == nil || len(m.first) >= maxRemembered {
		m.first = map[string][]byte{}
	}
	if m.first[function] == nil {
		m.first[function] = wrong
	}
	return m.first[function]
}

// remember keeps an honest result for a lazy liar.
func (m *mind) remember(function string, r harness.Result) {
	if m.options.Kind != Lazy {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil || len(m.last) >= maxRemembered {
		m.last = map[string]harness.Result{}
	}
	m.last[function] = r
}

// idle is what a lazy liar says in place of working: the result of another shard.
func (m *mind) idle(function string, shard int64) (harness.Result, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, known := m.last[function]
	if !known || len(r.Files) > 0 { // those would have to be there
		return r, false
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	m.options.Log.Warn("LYING about a shard, as this agent was told to", "kind", m.options.Kind, "shard", shard, "digest", r.OutputDigest)
	r.Shard, r.StartedAt, r.EndedAt = shard, now, now
	return r, true
}
