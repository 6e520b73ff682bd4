package heuristics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/heuristics/sql"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/wasm"
)

// MaxScoreFailures is how often a heuristic may fail at the results of a page, through no fault of its own, before the page continues without
// its score: advice never holds a job forever. A heuristic that fails by its own fault fails for good.
const MaxScoreFailures = 5

// MaxScoreTime is how long heuristics may take together for a page, or for a version's code, each an equal share of it: less than the step
// may, so that one that is slow has failed and is counted, and does not have the step cut off again and again.
const MaxScoreTime = 10 * time.Minute

// scoreShare is a heuristic's share of the time.
func (s *Service) scoreShare(ctx context.Context, heuristics int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.scoreTime/time.Duration(heuristics))
}

// The states of what a heuristic has to say about a page.
const (
	scoreScored  = "scored"
	scoreFailed  = "failed" // it is tried again
	scoreGivenUp = "given_up"
)

// pageToScore is a settled page as it was read.
type pageToScore struct {
	job, function uuid.UUID
	number        int64
	version       int
	reopened      int // how often its shards were opened again before it was read
	policy        verify.Policy
	heuristics    []jobs.PinnedHeuristic // that have not given a score yet
	holds         bool                   // the page is folded when all have, or were given up
	rows          []evidenceRow
}

type evidenceRow struct {
	Shard        int64
	AgentID      uuid.UUID
	Output       []byte
	OutputDigest string
	OutputBytes  int64
	CPUMicros    int64 `db:"cpu_us"`
	WallMicros   int64 `db:"wall_us"`
	PeakRSS      int64 `db:"peak_rss_bytes"`
}

// evidence is what a heuristic is shown. An output that is an object is only named: no heuristic reads it.
func (r evidenceRow) evidence() wasm.Evidence {
	e := wasm.Evidence{
		ID: base.FormatNumber(r.Shard), Subject: wasm.SubjectResult, Agent: r.AgentID.String(), Content: r.Output,
		Measures: &wasm.Measures{OutputBytes: r.OutputBytes, CPUMicros: r.CPUMicros, WallMicros: r.WallMicros, PeakRSS: r.PeakRSS},
	}
	if r.Output == nil {
		e.Ref = &wasm.Ref{SHA256: r.OutputDigest, Size: r.OutputBytes}
	}
	return e
}

// pageScores is what one heuristic has said about a page, or why it has not.
type pageScores struct {
	jobs.PinnedHeuristic
	found []resultFinding // those from which something follows, the highest first
	score *float64        // the highest of all; nil where there are no results
	err   error
}

// resultFinding is a result that deserves a look.
type resultFinding struct {
	shard int64
	agent uuid.UUID
	wasm.Score
}

// ScoreResults has heuristics look at the results of a page. No transaction is open while they work. What they find makes flags, and what
// else the rules say; it never accepts anything. Where one fails the page is tried again a few times and then continues without its score.
func (s *Service) ScoreResults(ctx context.Context, args stepargs.ScoreResultsArgs) error {
	page, err := s.readToScore(ctx, args)
	if err != nil || page == nil {
		return err
	}
	scores := make([]pageScores, len(page.heuristics))
	for i, h := range page.heuristics {
		share, cancel := s.scoreShare(ctx, len(page.heuristics))
		scores[i] = s.scorePage(share, args.Project, page, h)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	again, err := s.keepPageScores(ctx, args, page, scores)
	if errors.Is(err, functions.ErrJobEnded) { // meanwhile: nothing follows any more
		return nil
	}
	if err == nil {
		err = again
	}
	if err != nil {
		return fmt.Errorf("scoring page %d of job %s: %w", args.Page, args.Job, err)
	}
	return nil
}

// readToScore is nil when there is nothing to do any more.
func (s *Service) readToScore(ctx context.Context, args stepargs.ScoreResultsArgs) (page *pageToScore, err error) {
	type jobRow struct {
		FunctionID uuid.UUID
		Version    int
		State      functions.JobState
		Policy     verify.Policy
		Heuristics []functions.HeuristicRef
	}
	type known struct {
		Key      string
		State    string
		Failures int
	}
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		page = nil
		job, found, err := store.One[jobRow](ctx, tx, sql.ScoringJob, args.Job)
		if err != nil || !found || job.State.Ended() {
			return err
		}
		settled, err := aggregation.PageSettled(ctx, tx, args.Job, args.Page)
		if err != nil || !settled.Settled {
			return err // it was opened again, and comes back here when it is settled
		}
		done, err := store.Many[known](ctx, tx, sql.PageScores, args.Job, args.Page)
		if err != nil {
			return err
		}
		p := &pageToScore{
			job: args.Job, number: args.Page, function: job.FunctionID, version: job.Version, reopened: settled.Reopened, policy: job.Policy,
			holds: jobs.HoldFolds(job.Heuristics),
		}
		for _, h := range job.Heuristics {
			u := jobs.PinRef(h)
			if !slices.ContainsFunc(done, func(k known) bool { return k.Key == u.Key && k.State != scoreFailed }) {
				p.heuristics = append(p.heuristics, u)
			}
		}
		if len(p.heuristics) == 0 {
			return nil
		}
		page = p
		page.rows, err = store.Many[evidenceRow](ctx, tx, sql.PageEvidence, args.Job, args.Page*partition.PageSize, (args.Page+1)*partition.PageSize)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading page %d of job %s: %w", args.Page, args.Job, err)
	}
	return page, nil
}

// scorePage asks one heuristic about all results of a page at once: it may compare them.
func (s *Service) scorePage(ctx context.Context, project uuid.UUID, page *pageToScore, u jobs.PinnedHeuristic) pageScores {
	p := pageScores{PinnedHeuristic: u}
	things := make([]wasm.Evidence, len(page.rows))
	for i, r := range page.rows {
		things[i] = r.evidence()
	}
	scores, err := s.score(ctx, project, page.job, u, fmt.Sprintf("page %d", page.number), things)
	if err != nil {
		p.err = err
		return p
	}
	for i, score := range scores {
		if p.score == nil || *score.Score > *p.score {
			p.score = score.Score
		}
		if *score.Score >= u.Lowest() {
			p.found = append(p.found, resultFinding{shard: page.rows[i].Shard, agent: page.rows[i].AgentID, Score: score})
		}
	}
	slices.SortStableFunc(p.found, func(a, b resultFinding) int { return -compareScores(a.Score, b.Score) })
	return p
}

// score asks a heuristic about results of a job, or about files.
func (s *Service) score(ctx context.Context, project, job uuid.UUID, u jobs.PinnedHeuristic, step string, things []wasm.Evidence) ([]wasm.Score, error) {
	if u.Module == functions.ExternalModel {
		return s.askModel(ctx, project, job, u, step, things)
	}
	module, runs := s.watchedHeuristic(project, job, u, step)
	scores, _, err := module.Score(ctx, wasm.Each(things))
	return scores, runs.Named(err)
}

// keepPageScores stores what was said, carries out what follows, and has the page folded when that waited for it. The first error is what
// is to be tried again.
func (s *Service) keepPageScores(ctx context.Context, args stepargs.ScoreResultsArgs, page *pageToScore, scores []pageScores) (again, err error) {
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		again = nil
		c, err := s.consequencesOf(ctx, tx, args.Project, page, scores)
		if err != nil {
			return err
		}
		for _, p := range scores {
			c.Marks = append(c.Marks, p.failure(page)...)
		}
		steps, err := s.trust.Write(ctx, tx, c.Settlement)
		if err != nil {
			return err
		}
		if err := c.keep(ctx, tx); err != nil {
			return err
		}
		for _, p := range scores {
			state, err := p.keep(ctx, tx, page)
			if err != nil {
				return err
			}
			if state == scoreFailed {
				again = errors.Join(again, p.err)
			}
		}
		settled, err := aggregation.PageSettled(ctx, tx, page.job, page.number)
		if err != nil {
			return err
		}
		if again == nil && page.holds && settled.Settled && settled.Reopened == page.reopened {
			steps = append(steps, stepargs.AggregateArgs{Project: args.Project, Job: args.Job, Page: args.Page})
		}
		return s.env.Enqueue(ctx, tx, steps...)
	})
	return again, err
}

// keep stores the heuristic's scores, or that it has failed again.
func (p pageScores) keep(ctx context.Context, tx *store.Tx, page *pageToScore) (state string, err error) {
	state, text := scoreScored, ""
	if p.err != nil {
		state, text = scoreFailed, registry.ShortText(p.err.Error(), maxScoreError)
		if ownFault(p.err) {
			state = scoreGivenUp
		}
	}
	now, found, err := store.Value[string](ctx, tx, sql.KeepPageScore, page.job, page.number, p.Key, p.Module, page.reopened, state, text, p.score, len(p.found), MaxScoreFailures)
	if err == nil && !found { // another run of the step was quicker
		now = scoreScored
	}
	return now, err
}

// maxScoreError is how much of an error is kept with a page, in bytes; the run of the module has all of it.
const maxScoreError = 4 << 10

// failure is the flag for a heuristic that has failed.
func (p pageScores) failure(page *pageToScore) []flag.Mark {
	if p.err == nil {
		return nil
	}
	decision := fmt.Sprintf("not scored; tried again, %d times at most", MaxScoreFailures)
	if ownFault(p.err) {
		decision = "not scored, and nothing waits for it"
	}
	detail := map[string]any{"page": page.number, "heuristic": p.Module, "error": registry.ShortText(p.err.Error(), maxScoreError), "decision": decision}
	if run := registry.RunOf(p.err); run != nil {
		detail["module_run"] = run
	}
	return []flag.Mark{{Kind: flag.FlagFinding, Rule: p.Module, Job: page.job, Decision: decision, Event: base.EventScoringFailed, Detail: detail}}
}
