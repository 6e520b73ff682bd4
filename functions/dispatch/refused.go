package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// flagRefusedEvery is how often the same refusal of the same agent is written down. What comes in between is counted and written with
	// the next: an agent that sends rubbish as fast as it can must not make the database work as fast.
	flagRefusedEvery = 10 * time.Second
	// maxRefusedKept is how many refusals are counted in between. When there are more, counts that were not written yet are given up:
	// how often a refusal happened is then more than its flag says.
	maxRefusedKept = 4096
	// flagRefusedLimit is how long writing one down may take: the agent has its answer meanwhile or has gone away, which must not keep it
	// from being flagged.
	flagRefusedLimit = 5 * time.Second
	// ruleForeignLease is the rule of submissions for a lease that another agent holds.
	ruleForeignLease = "foreign_lease"
)

// refusedKey is what is counted together.
type refusedKey struct {
	job, agent uuid.UUID
	rule       string
}

type refusedCount struct {
	written time.Time
	since   int64
}

// refusedCounts counts refused submissions. The zero value is ready.
type refusedCounts struct {
	mu     sync.Mutex
	counts map[refusedKey]*refusedCount
}

// due counts one refusal and returns how many are to be written down now; 0: none.
func (r *refusedCounts) due(key refusedKey, now time.Time) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.counts[key]
	if c == nil {
		if r.counts == nil || len(r.counts) >= maxRefusedKept {
			r.counts = map[refusedKey]*refusedCount{}
		}
		c = &refusedCount{}
		r.counts[key] = c
	}
	c.since++
	if now.Sub(c.written) < flagRefusedEvery {
		return 0
	}
	times := c.since
	c.written, c.since = now, 0
	return times
}

// suspicious says whether a submission was refused for what an honest agent never sends, and for which rule.
func suspicious(err error) (rule string, is bool) {
	var e *functions.Error
	if !errors.As(err, &e) {
		return "", false
	}
	for _, named := range []*functions.Error{functions.ErrBadSignature, functions.ErrBadResult, functions.ErrResultConflict} {
		if e.Code == named.Code {
			return e.Code, true
		}
	}
	return "", false
}

// flagRefused notes a submission that was refused, in a transaction of its own: nothing else of it is kept.
func (s *Service) flagRefused(ctx context.Context, agent, lease uuid.UUID, refusal error) {
	rule, is := suspicious(refusal)
	if !is && !errors.Is(refusal, functions.NotFound("lease", "")) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flagRefusedLimit)
	defer cancel()
	if err := s.writeRefused(ctx, agent, lease, rule, refusal); err != nil {
		s.env.Log.Warn("a refused submission could not be flagged", "agent", agent, "lease", lease, "rule", rule, "error", err)
	}
}

func (s *Service) writeRefused(ctx context.Context, agent, lease uuid.UUID, rule string, refusal error) error {
	type owner struct{ ProjectID, JobID uuid.UUID }
	of, found, err := store.One[owner](ctx, s.env.Store.Pool, sql.LeaseOfAny, lease)
	if err != nil || !found {
		return err // a lease that nobody holds, or that was forgotten
	}
	if rule == "" {
		rule = ruleForeignLease
	}
	times := s.refused.due(refusedKey{of.JobID, agent, rule}, time.Now())
	if times == 0 {
		return nil
	}
	var e *functions.Error
	errors.As(refusal, &e)
	return s.env.Project(ctx, of.ProjectID, func(tx *store.Tx) error {
		return flag.Raise(ctx, tx, flag.Mark{
			Kind: flag.FlagSignature, Rule: rule, Job: of.JobID, Agent: &agent, Decision: "refused", Times: times,
			Detail: map[string]any{"lease": lease, "error": e.Message},
		})
	})
}
