package heuristics

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/heuristics/sql"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/model"
	"github.com/ostraka/ostraka/wasm"
)

// What a project may ask of the external model in a day, by the clock of UTC, where the operator says nothing else.
const (
	DefaultModelCalls  = 200
	DefaultModelTokens = 2_000_000
)

// errNoModel says that policies cannot ask an external model here.
var errNoModel = &functions.Error{
	Kind: functions.KindInvalid, Code: "no_model", Message: "this installation has no external model",
	Hint: "its operator can name one with ostraka server --model-url, or leave " + functions.ExternalModel + " out of the policy",
}

// pinModel pins the endpoint and the model as they are.
func (s *Service) pinModel(u functions.HeuristicUse) (string, error) {
	if s.model.Client == nil {
		return "", errNoModel
	}
	if len(u.Params) > 0 && string(u.Params) != "{}" {
		return "", functions.Invalid("bad_params", "the external model takes no parameters", "leave them out")
	}
	sum := sha256.Sum256([]byte(s.model.Client.Describe()))
	return hex.EncodeToString(sum[:]), nil
}

// modelItem is what the model is shown of a file or a result.
func modelItem(e wasm.Evidence) (model.Item, error) {
	if e.Subject == wasm.SubjectCode {
		return model.Item{ID: e.ID, Kind: "code", Text: e.Text}, nil
	}
	text, err := json.Marshal(struct {
		Output   json.RawMessage `json:"output"`
		Measures *wasm.Measures  `json:"measures"`
	}{e.Content, e.Measures})
	return model.Item{ID: e.ID, Kind: "result", Text: string(text)}, err
}

// askModel asks about things within what the project may spend. Its answer becomes scores, and nothing else: what it does not name has the
// score 0. Every call is recorded.
func (s *Service) askModel(ctx context.Context, project, job uuid.UUID, u jobs.PinnedHeuristic, step string, things []wasm.Evidence) ([]wasm.Score, error) {
	digest, err := s.pinModel(u.HeuristicUse)
	if err != nil {
		return nil, &model.Error{Message: err.Error(), Final: true}
	}
	if digest != u.Digest {
		return nil, &model.Error{Message: "the operator has named another model since", Final: true}
	}
	items := make([]model.Item, len(things))
	at := map[string]int{}
	scores := make([]wasm.Score, len(things))
	for i, e := range things {
		if items[i], err = modelItem(e); err != nil {
			return nil, fmt.Errorf("encoding %q: %w", e.ID, err)
		}
		at[e.ID], scores[i] = i, wasm.Score{ID: e.ID, Score: new(float64)}
	}
	requests, err := s.model.Client.Prepare(items)
	if err != nil {
		return nil, err
	}
	for _, r := range requests {
		answers, err := s.callModel(ctx, project, job, u, step, r)
		if err != nil {
			return nil, err
		}
		for _, a := range answers {
			scores[at[a.ID]] = wasm.Score{ID: a.ID, Score: &a.Score, Labels: []string{a.Label}, Explain: a.Why}
		}
	}
	return scores, nil
}

// callModel makes one call, with what it may take set aside before.
func (s *Service) callModel(ctx context.Context, project, job uuid.UUID, u jobs.PinnedHeuristic, step string, r model.Request) ([]model.Answer, error) {
	var day time.Time
	err := s.env.Control(ctx, func(tx pgx.Tx) error {
		if err := s.env.AskControl(ctx, tx, s.modelIntent(project, step, r)); err != nil {
			return err
		}
		var found bool
		var err error
		day, found, err = store.Value[time.Time](ctx, tx, sql.SpendModel, project, r.MostTokens(), s.model.Calls, s.model.Tokens)
		if err == nil && !found {
			err = &model.Error{Message: fmt.Sprintf("the project has spent what it may in a day: %d calls and %d tokens, of which a call may take %d", s.model.Calls, s.model.Tokens, r.MostTokens()), Final: true}
		}
		return err
	})
	var refused *base.Refused
	if errors.As(err, &refused) { // by a rule, which will say the same again
		return nil, &model.Error{Message: refused.Err.Message, Final: true}
	}
	if err != nil {
		return nil, err
	}
	began := time.Now()
	answers, usage, asked := s.model.Client.Ask(ctx, r)
	spent, back := usage.Tokens, 0
	if !usage.Called {
		back = 1
	}
	ctx = context.WithoutCancel(ctx) // it was spent, even if the caller has gone
	runs := s.registry.WatchModule(registry.ModuleUse{Project: project, Job: job, Module: u.Module, Digest: u.Digest, Step: step})
	runs.RanAlone(ctx, wasm.Ran{
		Kind: wasm.KindHeuristic, Phase: wasm.PhaseRun, Started: began, Err: asked,
		Stats: wasm.Stats{InLines: int64(r.Items()), InBytes: usage.RequestBytes, OutLines: int64(len(answers)), OutBytes: usage.ResponseBytes, Fuel: spent, Wall: time.Since(began)},
	})
	if err := s.env.Control(ctx, func(tx pgx.Tx) error {
		_, err := store.Exec(ctx, tx, sql.SettleModel, project, day, r.MostTokens(), spent, back)
		return err
	}); err != nil {
		return nil, fmt.Errorf("counting what the external model has cost: %w", err)
	}
	failure := ""
	if asked != nil {
		failure = asked.Error()
	}
	if err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		return base.Audit(ctx, tx, "server", "model.ask", step, map[string]any{"job": job, "items": r.Items(), "bytes": usage.RequestBytes, "tokens": spent, "error": failure})
	}); err != nil {
		return nil, fmt.Errorf("recording a call of the external model: %w", err)
	}
	return answers, runs.Named(asked)
}

// modelIntent is a call of the model in the words of the guardian.
func (s *Service) modelIntent(project uuid.UUID, step string, r model.Request) base.Intent {
	host, name, _ := strings.Cut(s.model.Client.Describe(), " ")
	if at, err := url.Parse(host); err == nil {
		host = at.Host
	}
	sends := "results"
	if strings.HasPrefix(step, "scoring version") {
		sends = "code"
	}
	facts := guardian.ModelFacts{Model: guardian.Model{Host: host, Name: name, Sends: sends, Bytes: r.MostTokens() - model.MaxAnswerTokens}}
	return base.Intent{Step: "ask_model", Project: project, Kind: guardian.ModelAsk, Subject: step, Facts: facts, Asked: modelAsked{BodySHA256: r.Digest()}}
}

// modelAsked is what is asked for by a call beyond its facts: exactly this text.
type modelAsked struct {
	BodySHA256 string `json:"body_sha256"`
}

// ownFault says whether a heuristic has failed by its own fault, which comes again however often it is tried.
func ownFault(err error) bool {
	var module *wasm.Error
	var asked *model.Error
	return errors.As(err, &module) && !module.Operational() || errors.As(err, &asked) && asked.Final
}
