package heuristics

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/heuristics/sql"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
)

const (
	// maxScoredFile is the largest file that a heuristic reads, in bytes: as JSON it may be twice as long, and a line of the contract
	// holds it. A larger one is a finding by itself.
	maxScoredFile = wasm.DefaultLine / 4
	// maxCodeBatch is how many bytes of source are given to a heuristic at once.
	maxCodeBatch = 8 << 20
)

// codeScore is what a heuristic has said about a version.
type codeScore struct {
	Heuristic string
	Key       string
	Score     *float64
	Error     string
	Decision  *string
}

// Why a job is not dispatched.
const (
	heldScoring = "scoring" // its code has no score yet
	heldReview  = "review"  // a person must look at its code
)

// CodeGate says whether a version may be dispatched: what the policy asks for a person's decision about waits for it, and what the policy
// requires a score of waits for that.
type CodeGate struct {
	Held    *string
	Missing bool    // some heuristic has not looked at it yet
	Raise   float64 // how much more of the results is audited; 0: no more than usual
}

// gateCode is a pure function of the policy and of what is known.
func gateCode(uses []jobs.PinnedHeuristic, scores []codeScore) (g CodeGate, refused bool) {
	hold := func(why string) {
		if g.Held == nil || why == heldReview {
			g.Held = &why
		}
	}
	for _, u := range uses {
		i := slices.IndexFunc(scores, func(c codeScore) bool { return c.Heuristic == u.Module && c.Key == u.Key })
		switch {
		case i < 0:
			g.Missing = true
			if u.Required || u.Does(functions.DoReview) {
				hold(heldScoring)
			}
		case scores[i].Decision != nil && *scores[i].Decision == "refused":
			refused = true
			hold(heldReview)
		case scores[i].Score == nil && scores[i].Decision == nil:
			g.Missing = true
			if u.Required {
				hold(heldScoring)
			}
		case scores[i].Score != nil:
			actions := u.Actions(*scores[i].Score)
			g.Raise = max(g.Raise, trust.RaiseOf(actions))
			if slices.Contains(actions, functions.DoReview) && scores[i].Decision == nil {
				hold(heldReview)
			}
		}
	}
	return g, refused
}

// GateVersion looks whether a version may be dispatched, as the project's policy says.
func (s *Service) GateVersion(ctx context.Context, project uuid.UUID, policy functions.HeuristicsPolicy, f registry.FunctionRow) (g CodeGate, err error) {
	uses, err := s.pinHeuristics(ctx, project, policy)
	if err != nil || len(uses) == 0 {
		return g, err
	}
	var refused bool
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		scores, err := store.Many[codeScore](ctx, tx, sql.ListCodeScores, f.FunctionID, f.Version)
		g, refused = gateCode(uses, scores)
		return err
	})
	if err == nil && refused {
		err = &functions.Error{
			Kind: functions.KindConflict, Code: "code_refused", Message: fmt.Sprintf("version %d of %s was refused: a person has looked at what a heuristic found in it", f.Version, f.Name),
			Hint: "ostraka function review " + f.Name + " shows what and why; mend it and push it again",
		}
	}
	return g, err
}

// ScoreCode has the heuristics of a project look at a version of a function, as far as they have not. No transaction is open while they
// work. A finding makes flags and holds jobs, as the policy says; it never lets anything pass that would not have passed without it.
func (s *Service) ScoreCode(ctx context.Context, args stepargs.ScoreCodeArgs) error {
	err := s.scoreCode(ctx, args)
	if err != nil {
		return fmt.Errorf("scoring version %d of %s: %w", args.Version, args.Function, err)
	}
	return nil
}

func (s *Service) scoreCode(ctx context.Context, args stepargs.ScoreCodeArgs) error {
	uses, err := s.codeHeuristics(ctx, args.Project)
	if err != nil {
		return err
	}
	var f registry.FunctionRow
	var scores []codeScore
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		if f, err = registry.GetFunction(ctx, tx, args.Function, args.Version); err != nil {
			return err
		}
		scores, err = store.Many[codeScore](ctx, tx, sql.ListCodeScores, f.FunctionID, f.Version)
		return err
	})
	if err != nil {
		return err
	}
	var files []wasm.Evidence
	var unread []codeFinding
	var again error
	for _, u := range uses {
		if slices.ContainsFunc(scores, func(c codeScore) bool { return c.Heuristic == u.Module && c.Key == u.Key && c.Score != nil }) {
			continue
		}
		if files == nil {
			if files, unread, err = s.sourceFiles(ctx, args.Project, f); err != nil {
				return err
			}
		}
		share, cancel := s.scoreShare(ctx, len(uses))
		found, err := s.scoreFiles(share, args.Project, f, u, files)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.keepCodeScore(ctx, args.Project, f, u, append(found, unread...), err); err != nil {
			return err
		}
		if err != nil && !ownFault(err) {
			again = err
		}
	}
	if err := s.releaseJobs(ctx, args.Project, f, uses); err != nil {
		return err
	}
	return again
}

// codeFinding is what was found in one file.
type codeFinding struct {
	file string
	wasm.Score
}

func unreadFile(name, why string) codeFinding {
	score := 1.0
	return codeFinding{name, wasm.Score{Score: &score, Labels: []string{"unread"}, Explain: why}}
}

// sourceFiles are the Python files of a version. One that cannot be read, or is too large to be, is a finding.
func (s *Service) sourceFiles(ctx context.Context, project uuid.UUID, f registry.FunctionRow) (files []wasm.Evidence, unread []codeFinding, err error) {
	archive, err := s.env.Blobs.Get(ctx, project, f.Digest, bundle.MaxArchiveBytes)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the bundle: %w", err)
	}
	b, err := bundle.Verify(bytes.NewReader(archive), -1)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the bundle: %w", err)
	}
	files = []wasm.Evidence{}
	err = b.Read(func(file bundle.File, content []byte) error {
		switch {
		case bundle.IsCompiled(file.Path):
			unread = append(unread, unreadFile(file.Path, "the file is compiled code, which no heuristic can read"))
		case !bundle.IsSource(file.Path):
		case len(content) > maxScoredFile:
			unread = append(unread, unreadFile(file.Path, fmt.Sprintf("the file has %d bytes, and a heuristic reads at most %d", len(content), maxScoredFile)))
		default:
			// Bytes that are no text are shown as what they cannot be read as: Python refuses them as well.
			files = append(files, wasm.Evidence{ID: file.Path, Subject: wasm.SubjectCode, Name: file.Path, Text: string(bytes.ToValidUTF8(content, []byte("\uFFFD")))})
		}
		return nil
	})
	return files, unread, err
}

// scoreFiles asks a heuristic about files, in batches.
func (s *Service) scoreFiles(ctx context.Context, project uuid.UUID, f registry.FunctionRow, u jobs.PinnedHeuristic, files []wasm.Evidence) (found []codeFinding, err error) {
	step := fmt.Sprintf("scoring version %d of %s", f.Version, f.Name)
	for from := 0; from < len(files); {
		to, size := from, 0
		for to < len(files) && to-from < wasm.MaxBatch && (to == from || size+len(files[to].Text) <= maxCodeBatch) {
			size += len(files[to].Text)
			to++
		}
		scores, err := s.score(ctx, project, uuid.Nil, u, step, files[from:to])
		if err != nil {
			return nil, err
		}
		for i, score := range scores {
			found = append(found, codeFinding{files[from+i].Name, score})
		}
		from = to
	}
	return found, nil
}

// keepCodeScore stores what a heuristic has said, or that it has failed.
func (s *Service) keepCodeScore(ctx context.Context, project uuid.UUID, f registry.FunctionRow, u jobs.PinnedHeuristic, found []codeFinding, failed error) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		if failed != nil {
			if _, err := store.Exec(ctx, tx, sql.KeepCodeScore, f.FunctionID, f.Version, u.Module, u.Key, nil, failed.Error()); err != nil {
				return err
			}
			return flag.Raise(ctx, tx, flag.Mark{
				Kind: flag.FlagFinding, Rule: u.Module, Function: &f.FunctionID, Version: f.Version, Decision: "not scored",
				Detail: map[string]any{"function": f.Name, "version": f.Version, "error": failed.Error()},
			})
		}
		highest := 0.0
		var kept, worth []codeFinding
		for _, c := range found {
			highest = max(highest, *c.Score.Score)
			if *c.Score.Score >= u.Lowest() {
				worth = append(worth, c)
			}
			if *c.Score.Score >= u.Lowest() || u.Module == guardian.CodeModule && len(c.Labels) > 0 { // rules see what the policy overlooks
				kept = append(kept, c)
			}
		}
		n, err := store.Exec(ctx, tx, sql.KeepCodeScore, f.FunctionID, f.Version, u.Module, u.Key, &highest, "")
		if err != nil || n == 0 { // another run of the step has kept it
			return err
		}
		for _, c := range kept {
			if err := addFinding(ctx, tx, finding{
				heuristic: u.Module, key: u.Key, function: f.FunctionID, version: f.Version, file: c.file, score: c.Score, actions: u.Actions(*c.Score.Score),
			}); err != nil {
				return err
			}
		}
		if len(worth) == 0 {
			return nil
		}
		slices.SortStableFunc(worth, func(a, b codeFinding) int { return -compareScores(a.Score, b.Score) })
		return flag.Raise(ctx, tx, flag.Mark{
			Kind: flag.FlagFinding, Rule: u.Module, Function: &f.FunctionID, Version: f.Version, Decision: decisionOf(u.Actions(highest)),
			Detail: map[string]any{
				"function": f.Name, "version": f.Version, "score": highest, "files": len(worth), "file": worth[0].file, "labels": worth[0].Labels, "explanation": worth[0].Explain,
			},
		})
	})
}

// decisionOf says what follows from a finding in code.
func decisionOf(actions []functions.HeuristicAction) string {
	var words []string
	switch {
	case slices.Contains(actions, functions.DoReview):
		words = append(words, "held until a person decides")
	case len(actions) == 0 || slices.Contains(actions, functions.DoFlag):
		words = append(words, "flagged")
	}
	switch {
	case slices.Contains(actions, functions.DoRecheck):
		words = append(words, "all results are audited")
	case slices.Contains(actions, functions.DoRaise):
		words = append(words, "more results are audited")
	}
	return strings.Join(words, "; ")
}

// releaseJobs lets the jobs of a version be dispatched, or says what they wait for now.
func (s *Service) releaseJobs(ctx context.Context, project uuid.UUID, f registry.FunctionRow, uses []jobs.PinnedHeuristic) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		scores, err := store.Many[codeScore](ctx, tx, sql.ListCodeScores, f.FunctionID, f.Version)
		if err != nil {
			return err
		}
		gate, _ := gateCode(uses, scores)
		if gate.Raise > 0 {
			if _, err := store.Exec(ctx, tx, sql.RaiseJobsOf, f.FunctionID, f.Version, functions.ServerAgent, gate.Raise); err != nil {
				return err
			}
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		n, err := store.Exec(ctx, server, sql.HoldJobs, project, f.Name, f.Version, gate.Held)
		if err != nil || n == 0 || gate.Held != nil {
			return err
		}
		return base.Notify(ctx, server, base.ChannelWork, project)
	})
}

// The decisions about code.
const (
	CodeAllow  = "allow"
	CodeRefuse = "refuse"
)

// ReviewCode carries out a person's decision about a version of a function in which a heuristic found something.
func (s *Service) ReviewCode(ctx context.Context, by functions.Principal, project uuid.UUID, name string, version int, decision, reason string) (r CodeReview, err error) {
	if len(reason) == 0 || len(reason) > functions.MaxResolutionReason {
		return r, functions.Invalid("bad_reason", fmt.Sprintf("a reason of 1 to %d bytes is required", functions.MaxResolutionReason), "say why: it is kept in the audit log")
	}
	decided, known := map[string]string{CodeAllow: "allowed", CodeRefuse: "refused"}[decision]
	if !known {
		return r, functions.Invalid("bad_decision", fmt.Sprintf("there is no decision %q", decision), "decide allow or refuse")
	}
	var f registry.FunctionRow
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if f, err = registry.GetFunction(ctx, tx, name, version); err != nil {
			return err
		}
		subject := fmt.Sprintf("%s@%d", f.Name, f.Version)
		facts := guardian.DecisionFacts{Decision: guardian.Decided{About: "code", Verdict: decision, Reason: reason, Function: f.Name}}
		if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.FunctionReview, Subject: subject, Facts: facts}); err != nil {
			return err
		}
		n, err := store.Exec(ctx, tx, sql.DecideCode, f.FunctionID, f.Version, decided, by.Actor(), reason)
		if err != nil {
			return err
		}
		if n == 0 {
			return &functions.Error{Kind: functions.KindConflict, Code: "not_scored", Message: fmt.Sprintf("no heuristic has looked at version %d of %s", f.Version, f.Name), Hint: "there is nothing to decide; ostraka finding list shows what there is"}
		}
		return base.Audit(ctx, tx, by.Actor(), "code.review", subject, map[string]any{"decision": decision, "reason": reason})
	})
	if err != nil {
		return r, err
	}
	uses, err := s.codeHeuristics(ctx, project)
	if err != nil {
		return r, err
	}
	if err := s.releaseJobs(ctx, project, f, uses); err != nil {
		return r, err
	}
	return s.GetCodeReview(ctx, project, name, f.Version)
}

// CodeReview is what heuristics have said about a version of a function, and what a person has decided.
type CodeReview struct {
	Function string           `json:"function"`
	Version  int              `json:"version"`
	Held     string           `json:"held,omitempty" enum:"scoring,review" doc:"Why jobs of this version are not dispatched; left out where they are."`
	Scores   []HeuristicScore `json:"scores"`
}

// HeuristicScore is what one heuristic has said.
type HeuristicScore struct {
	Heuristic string   `json:"heuristic"`
	Score     *float64 `json:"score,omitempty" doc:"Of the file that most deserves a look; left out where the heuristic has failed."`
	Error     string   `json:"error,omitempty"`
	Current   bool     `json:"current" doc:"Whether the policy asks for this one now, in this version and with these parameters."`
	Decision  string   `json:"decision,omitempty" enum:"allowed,refused"`
}

// GetCodeReview says what heuristics have said about a version of a function; version 0 is the newest.
func (s *Service) GetCodeReview(ctx context.Context, project uuid.UUID, name string, version int) (r CodeReview, err error) {
	uses, err := s.codeHeuristics(ctx, project)
	if err != nil {
		return r, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		f, err := registry.GetFunction(ctx, tx, name, version)
		if err != nil {
			return err
		}
		scores, err := store.Many[codeScore](ctx, tx, sql.ListCodeScores, f.FunctionID, f.Version)
		if err != nil {
			return err
		}
		r = CodeReview{Function: f.Name, Version: f.Version, Scores: []HeuristicScore{}}
		if gate, _ := gateCode(uses, scores); gate.Held != nil {
			r.Held = *gate.Held
		}
		for _, c := range scores {
			h := HeuristicScore{Heuristic: c.Heuristic, Score: c.Score, Error: c.Error}
			h.Current = slices.ContainsFunc(uses, func(u jobs.PinnedHeuristic) bool { return u.Module == c.Heuristic && u.Key == c.Key })
			if c.Decision != nil {
				h.Decision = *c.Decision
			}
			r.Scores = append(r.Scores, h)
		}
		return nil
	})
	return r, err
}

// ExplainHold says why a job is not dispatched though it is open.
func ExplainHold(ctx context.Context, server pgx.Tx, job functions.Job) (*functions.Reason, error) {
	held, found, err := store.Value[*string](ctx, server, sql.GetHold, job.ID)
	if err != nil || !found || held == nil {
		return nil, err
	}
	if *held == heldReview {
		return &functions.Reason{
			Code: "code_review", Text: fmt.Sprintf("Nothing is lent: a heuristic found something in version %d of %s, and a person must look at it first.", job.Version, job.Function),
			Hint: fmt.Sprintf("ostraka finding list --function %s, then ostraka function review %s --version %d --allow or --refuse", job.Function, job.Function, job.Version),
		}, nil
	}
	return &functions.Reason{Code: "code_scoring", Text: fmt.Sprintf("Nothing is lent yet: the project's policy wants version %d of %s to be scored first.", job.Version, job.Function)}, nil
}
