package heuristics

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/heuristics/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

// HeuristicFinding is what a heuristic found that deserves a look. It never accepts anything.
type HeuristicFinding struct {
	ID          uuid.UUID                   `json:"id"`
	Heuristic   string                      `json:"heuristic"`
	Function    string                      `json:"function"`
	Version     int                         `json:"version"`
	Job         *uuid.UUID                  `json:"job,omitempty"`
	Shard       *int64                      `json:"shard,omitempty"`
	Agent       *uuid.UUID                  `json:"agent,omitempty"`
	File        string                      `json:"file,omitempty"`
	Score       float64                     `json:"score" doc:"0 to 1; 1 most deserves a look."`
	Labels      []string                    `json:"labels"`
	Explanation string                      `json:"explanation,omitempty"`
	Places      []wasm.Place                `json:"places" doc:"Where in the file, and what each weighs."`
	Actions     []functions.HeuristicAction `json:"actions" doc:"What followed, by the project's policy."`
	CreatedAt   time.Time                   `json:"created_at"`
}

// finding is one to be stored.
type finding struct {
	heuristic, key string
	function       uuid.UUID
	version        int
	job            *uuid.UUID
	shard          *int64
	agent          *uuid.UUID
	file           string
	score          wasm.Score
	actions        []functions.HeuristicAction
}

func addFinding(ctx context.Context, tx *store.Tx, f finding) error {
	places := f.score.Places
	if places == nil {
		places = []wasm.Place{}
	}
	text, err := json.Marshal(places)
	if err != nil {
		return fmt.Errorf("encoding a finding: %w", err)
	}
	labels := append([]string{}, f.score.Labels...)
	actions := make([]string, len(f.actions))
	for i, a := range f.actions {
		actions[i] = string(a)
	}
	_, err = store.Exec(ctx, tx, sql.AddFinding, base.NewID(), f.heuristic, f.key, f.function, f.version, f.job, f.shard, f.agent, f.file, *f.score.Score,
		labels, f.score.Explain, text, actions)
	return err
}

func compareScores(a, b wasm.Score) int { return cmp.Compare(*a.Score, *b.Score) }

// FindingFilter narrows a list of findings. Zero fields match everything.
type FindingFilter struct {
	Function  string
	Version   int
	Job       *uuid.UUID
	Heuristic string
}

// ListFindings lists findings in the order in which they were made.
func (s *Service) ListFindings(ctx context.Context, project uuid.UUID, filter FindingFilter, page functions.ListPage) (list []HeuristicFinding, err error) {
	after, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		list, err = store.Many[HeuristicFinding](ctx, tx, sql.ListFindings, after, base.PageLimit(page), filter.Function, filter.Version, filter.Job, filter.Heuristic)
		return err
	})
	return list, err
}

// GetFinding returns one finding.
func (s *Service) GetFinding(ctx context.Context, project, id uuid.UUID) (f HeuristicFinding, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		var found bool
		if f, found, err = store.One[HeuristicFinding](ctx, tx, sql.GetFinding, id); err == nil && !found {
			err = functions.NotFound("finding", id.String())
		}
		return err
	})
	return f, err
}
