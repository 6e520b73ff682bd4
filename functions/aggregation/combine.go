package aggregation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/wasm"
)

const (
	// MaxCombined is how many jobs are folded to one answer.
	MaxCombined = 16
	// MaxFailedAgain is how many shards a job may have that ran failed ones again, if its answer is to be folded with the other's.
	MaxFailedAgain = 100_000
	// CombineAgain is when it is worth asking again while another request of the project folds several jobs.
	CombineAgain = 5 * time.Second
)

// ErrCombineBusy says that another request folds several jobs: a server does so for a project once at a time, since each compares up to
// MaxFailedAgain shards of MaxCombined jobs.
var ErrCombineBusy = &functions.Error{
	Kind: functions.KindExhausted, Code: "combine_busy", Message: "another request folds several jobs of this project to one answer",
	Hint:  "ask again when it has ended",
	Quota: &functions.QuotaExceeded{Name: "combine", Limit: 1, Used: 1, Again: CombineAgain},
}

// combining are the projects for which several jobs are folded just now.
type combining struct{ projects sync.Map }

func (c *combining) take(project uuid.UUID) bool {
	_, taken := c.projects.LoadOrStore(project, true)
	return !taken
}

func (c *combining) leave(project uuid.UUID) { c.projects.Delete(project) }

// CombinedAnswer is the answer of a job and of those whose failed shards it, and they, ran again.
type CombinedAnswer struct {
	Jobs    []CombinedJob   `json:"jobs" doc:"The jobs whose accepted results are in it: the first one comes first, and each has run again what failed in the one before."`
	Count   int64           `json:"count" doc:"How many results are in it."`
	Missing int64           `json:"missing" doc:"How many shards of the first job have an accepted result in none of them."`
	Answer  json.RawMessage `json:"answer"`
}

// CombinedJob is one of the jobs of a combined answer, whose results were verified in its own way.
type CombinedJob struct {
	ID         uuid.UUID     `json:"id"`
	Version    int           `json:"version" doc:"Of the function, which all of them have."`
	Accepted   int64         `json:"accepted" doc:"Results of it that are in the answer."`
	Policy     verify.Policy `json:"policy" doc:"How those were verified."`
	ErrorBound *float64      `json:"error_bound,omitempty" doc:"The largest share of wrong results that is to be expected among those, as the verification of the job has it; left out where the policy keeps none."`
}

func combinedJob(j functions.Job, accepted int64) CombinedJob {
	c := CombinedJob{ID: j.ID, Version: j.Version, Accepted: accepted, Policy: j.Policy}
	if j.Verification != nil {
		c.ErrorBound = new(j.Verification.ErrorBound)
	}
	return c
}

// Combine folds the accepted results of a job with those of the jobs whose failed shards it ran again, each result once.
func (s *Service) Combine(ctx context.Context, project, job uuid.UUID) (c CombinedAnswer, err error) {
	if !s.combining.take(project) {
		return c, ErrCombineBusy
	}
	defer s.combining.leave(project)
	chain, err := s.rerunsOf(ctx, project, job)
	if err != nil {
		return c, err
	}
	last := chain[0]
	c.Missing = last.Shards.Total - last.Shards.Accepted
	var with *functions.AggregatorRef
	var folds []wasm.Partial
	size := 0
	for _, j := range slices.Backward(chain) {
		fold, err := s.ReadFold(ctx, project, j.ID)
		if err != nil {
			return c, err
		}
		switch {
		case fold.Aggregator == nil:
			return c, functions.Invalid("not_folded", fmt.Sprintf("the results of job %s are folded by no aggregator", j.ID), "ostraka job reaggregate JOB names one")
		case fold.Count != fold.Accepted:
			return c, functions.Invalid("not_folded", fmt.Sprintf("%d results of job %s are folded, but %d were accepted", fold.Count, j.ID, fold.Accepted), "wait until its answer stands")
		case with != nil && !SameAggregator(with, fold.Aggregator):
			return c, functions.Invalid("not_folded", fmt.Sprintf("job %s was folded with another aggregator than those before it", j.ID), "ostraka job reaggregate JOB folds the older one with the newest version of its module")
		}
		for _, p := range fold.Partials {
			size += len(p)
		}
		if size > MaxPreviewBytes {
			return c, functions.Invalid("not_folded", fmt.Sprintf("the partials of the jobs have more than %d bytes together", MaxPreviewBytes), "let the aggregator keep less")
		}
		with, folds, c.Jobs, c.Count = fold.Aggregator, append(folds, fold.Partials...), append(c.Jobs, combinedJob(j, fold.Count)), c.Count+fold.Count
	}
	merged, err := s.Join(ctx, project, job, *with, folds)
	if err != nil {
		return c, err
	}
	answer, n, err := s.AnswerOf(ctx, project, job, *with, merged)
	if err == nil && n != c.Count {
		err = fmt.Errorf("the answer of several jobs folds %d results, but %d were accepted", n, c.Count)
	}
	c.Answer = answer
	return c, err
}

// rerunsOf are the job and those whose failed shards it, and they, ran again, the newest first.
func (s *Service) rerunsOf(ctx context.Context, project, job uuid.UUID) (chain []functions.Job, err error) {
	for next := &job; next != nil; {
		j, err := s.jobs.GetJob(ctx, project, *next)
		if missing(err) && len(chain) > 1 {
			break // the last one that is there ran it again as a whole, as far as anybody can still say
		}
		if err != nil {
			return nil, err
		}
		if len(chain) > 0 {
			again, err := s.ranFailedAgain(ctx, project, chain[len(chain)-1], j)
			if err != nil {
				return nil, err
			}
			if !again {
				break
			}
			if last := chain[len(chain)-1]; j.Function != last.Function {
				return nil, functions.Invalid("not_folded", fmt.Sprintf("job %s is of the function %s, and job %s of %s: their results are not of one kind", last.ID, last.Function, j.ID, j.Function), "run what failed again by the same function, of any version: ostraka job rerun JOB --failed")
			}
		}
		if j.State != functions.JobFinished && j.State != functions.JobFailed {
			return nil, &functions.Error{
				Kind: functions.KindConflict, Code: "source_not_finished", Message: fmt.Sprintf("job %s is %s: only what has ended is folded", j.ID, j.State), Hint: "ostraka job watch JOB",
			}
		}
		if len(chain) == MaxCombined {
			return nil, functions.Invalid("not_folded", fmt.Sprintf("more than %d jobs ran one another's failed shards again", MaxCombined), "run the first one again as a whole: ostraka job rerun JOB")
		}
		chain, next = append(chain, j), j.RerunOf
	}
	if len(chain) < 2 {
		return nil, functions.Invalid("not_folded", fmt.Sprintf("job %s did not run the failed shards of another one again, and those alone", job), "ostraka job rerun JOB --failed makes a job that does")
	}
	return chain, nil
}

// ranFailedAgain says whether the shards of a job have the inputs of those that failed in another one, and no others.
func (s *Service) ranFailedAgain(ctx context.Context, project uuid.UUID, again, failed functions.Job) (bool, error) {
	n := again.Shards.Total
	switch {
	case n != failed.Shards.Failed || again.Partition.Kind != partition.KindItems || failed.Partition.Kind == partition.KindObjects:
		return false, nil
	case n > MaxFailedAgain:
		return false, functions.Invalid("not_folded", fmt.Sprintf("job %s has %d shards, and at most %d are compared with those that failed", again.ID, n, MaxFailedAgain), "run the first one again as a whole: ostraka job rerun JOB")
	}
	var afterAgain, afterFailed int64 = -1, -1
	for seen := int64(0); seen < n; {
		those, err := s.jobs.ListShards(ctx, project, again.ID, "", pageAfter(afterAgain))
		if err != nil {
			return false, err
		}
		these, err := s.jobs.ListShards(ctx, project, failed.ID, functions.ShardFailed, pageAfter(afterFailed))
		if err != nil {
			return false, err
		}
		if len(those) == 0 || len(those) != len(these) {
			return false, nil
		}
		for i := range those {
			if !sameJSON(those[i].Input, these[i].Input) {
				return false, nil
			}
		}
		seen += int64(len(those))
		afterAgain, afterFailed = those[len(those)-1].Number, these[len(these)-1].Number
	}
	return true, nil
}

func pageAfter(number int64) functions.ListPage {
	p := functions.ListPage{Limit: functions.MaxListLimit}
	if number >= 0 {
		p.After = strconv.FormatInt(number, 10)
	}
	return p
}

func missing(err error) bool {
	var wrong *functions.Error
	return errors.As(err, &wrong) && (wrong.Kind == functions.KindNotFound || wrong.Kind == functions.KindGone)
}

// SameAggregator says whether two jobs are folded by one module in one way, or both by none.
func SameAggregator(a, b *functions.AggregatorRef) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Digest == b.Digest && sameJSON(a.Params, b.Params)
}

// sameJSON compares values but for the spaces between their parts.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
