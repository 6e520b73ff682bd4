package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

const (
	// reportEvery is how long a result waits for others at most: a kill loses no more work than that.
	reportEvery = 2 * time.Second
	// reportResults is how many results are sent at once at most.
	reportResults = 100
	// reportBytes is how much is sent at once at most, in bytes of JSON, unless a single result has more. The server takes 16 MiB.
	reportBytes = 4 << 20
	// maxRestated is how often a part is signed with the other statement, where some servers of an installation are older than others.
	maxRestated = 8
)

// leaseIsOver says whether the server says that a lease does not count any more. A server whose database was killed may have forgotten
// a lease that it had just given: its shards are leased again.
func leaseIsOver(err error) bool {
	return slices.ContainsFunc([]answer.Code{"lease_expired", "lease_ended", "lease_revoked", "not_found"}, func(code answer.Code) bool {
		return errors.Is(err, code)
	})
}

// reporter sends the results of a lease in parts.
type reporter struct {
	*agent
	lease    *heldLease
	pending  []client.ShardResult
	size     int // bytes of JSON of what is pending
	reported int // results that the server has
}

func newReporter(a *agent, lease *heldLease) *reporter { return &reporter{agent: a, lease: lease} }

// run sends results as they come until there are no more, or the lease is over.
func (r *reporter) run(ctx context.Context, results <-chan finished) error {
	due := time.NewTimer(reportEvery)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case result, open := <-results:
			if !open {
				return r.flush(ctx)
			}
			if len(r.pending) == 0 {
				due.Reset(reportEvery)
			}
			if err := r.add(ctx, result); err != nil {
				return err
			}
		case <-due.C:
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
}

func (r *reporter) add(ctx context.Context, result finished) error {
	if err := r.store(ctx, &result); err != nil {
		return err
	}
	text, err := json.Marshal(result.ShardResult)
	if err != nil {
		return fmt.Errorf("encoding the result of shard %d: %w", result.Shard, err)
	}
	if r.size+len(text) > reportBytes {
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	r.pending, r.size = append(r.pending, result.ShardResult), r.size+len(text)
	if len(r.pending) >= reportResults {
		return r.flush(ctx)
	}
	return nil
}

// store sends a large output that is kept on disk. What the disk has spoilt is left out, and returned with the lease.
func (r *reporter) store(ctx context.Context, result *finished) error {
	if !result.large() || result.stored {
		return nil
	}
	output, err := r.lease.journal.output(result.OutputDigest)
	if err != nil {
		return fmt.Errorf("shard %d: %w", result.Shard, err)
	}
	err = r.persist(ctx, "storing a large output", func(ctx context.Context) error {
		err := r.server.putOutput(ctx, r.lease.ID, result.OutputDigest, strings.NewReader(output))
		if err != nil {
			r.lease.journal.sync()
		}
		return err
	})
	if leaseIsOver(err) {
		r.lease.end(err)
	}
	return err
}

func (r *reporter) flush(ctx context.Context) error {
	results := r.pending
	r.pending, r.size = nil, 0
	if len(results) == 0 {
		return nil
	}
	slices.SortFunc(results, func(a, b client.ShardResult) int { return int(min(max(a.Shard-b.Shard, -1), 1)) })
	return r.send(ctx, results)
}

// send posts results. When the server refuses them for what one of them says, it is found by halves and left out, so that the
// others count; what is left out is returned with the lease.
func (r *reporter) send(ctx context.Context, results []client.ShardResult) error {
	err := r.post(ctx, results)
	switch {
	case err == nil:
		r.reported += len(results)
		r.lease.journal.reported(results)
		return nil
	case leaseIsOver(err):
		r.lease.end(err)
		return err
	case ctx.Err() != nil || !aboutResults(err):
		return fmt.Errorf("sending results: %w", err)
	case len(results) == 1:
		r.log.Error("the server refuses a result", "lease", r.lease.ID, "shard", results[0].Shard, "status", results[0].Status, "error", err)
		return nil
	}
	half := len(results) / 2
	if err := r.send(ctx, results[:half]); err != nil {
		return err
	}
	return r.send(ctx, results[half:])
}

// aboutResults says whether the server refuses what was sent, and not who sent it or when.
func aboutResults(err error) bool {
	return isStatus(err, http.StatusBadRequest) || isStatus(err, http.StatusConflict) ||
		isStatus(err, http.StatusRequestEntityTooLarge) || isStatus(err, http.StatusUnprocessableEntity)
}

// post sends one signed part until it is answered, with the statement that the server takes.
func (r *reporter) post(ctx context.Context, results []client.ShardResult) error {
	for again := 0; ; again++ {
		err := r.postOnce(ctx, results)
		if again == maxRestated || !r.restate(err) {
			return err
		}
	}
}

// restate says whether the server wants the other statement than the one that was signed, which is signed from now on then.
func (r *reporter) restate(err error) bool {
	switch {
	case r.lease.Statement == audit.StatementOfWork && errors.Is(err, answer.Code("bad_results")):
		// Another server than the one that has lent the lease, of an older version: it knows of no other statement than the first.
		r.lease.Statement = audit.StatementOfLease
	case r.lease.Statement != audit.StatementOfWork && errors.Is(err, answer.Code("statement_too_old")): // and now again one of the newer version
		r.lease.Statement = audit.StatementOfWork
	default:
		return false
	}
	return true
}

func (r *reporter) postOnce(ctx context.Context, results []client.ShardResult) error {
	body, err := r.signed(results)
	if err != nil {
		return err
	}
	return r.persist(ctx, "sending results", func(ctx context.Context) error {
		recorded, err := r.server.post(ctx, r.lease.ID, body)
		if err != nil {
			r.lease.journal.sync() // they have to wait, perhaps for long
		} else {
			r.log.Debug("results are recorded", "lease", r.lease.ID, "new", recorded.Recorded, "known", recorded.Duplicate, "done", recorded.Done)
		}
		return err
	})
}

// encode writes JSON without the escapes that browsers need: outputs stay as short as they are.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding results: %w", err)
	}
	return out.Bytes(), nil
}
