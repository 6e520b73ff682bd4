package review

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/review/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// FlagState says whether a flag was decided.
type FlagState string

// The states of a flag.
const (
	FlagOpen     FlagState = "open"
	FlagResolved FlagState = "resolved"
)

// Flag is what a person or a rule must look at.
type Flag struct {
	ID         uuid.UUID       `json:"id"`
	Kind       string          `json:"kind"`
	Rule       string          `json:"rule,omitempty" doc:"What found it: a status, a policy, a heuristic, the code of a refusal."`
	State      FlagState       `json:"state" enum:"open,resolved"`
	Job        *uuid.UUID      `json:"job,omitempty"`
	Function   string          `json:"function,omitempty"`
	Version    int             `json:"version,omitempty"`
	Shard      *int64          `json:"shard,omitempty"`
	Agent      *uuid.UUID      `json:"agent,omitempty"`
	Attempt    string          `json:"attempt,omitempty" doc:"SHARD/AGENT, where it is about one attempt: an agent has one attempt of a shard."`
	Decision   string          `json:"decision,omitempty" doc:"What became of the attempt or the shard when it was flagged."`
	Times      int64           `json:"times" doc:"How often it happened; what is the same again is counted here and makes no further flag."`
	Detail     json.RawMessage `json:"detail" doc:"Diagnostics of the first occurrence."`
	CreatedAt  time.Time       `json:"created_at"`
	LastAt     time.Time       `json:"last_at" doc:"When it happened last."`
	ResolvedAt *time.Time      `json:"resolved_at,omitempty"`
	ResolvedBy string          `json:"resolved_by,omitempty"`
	Resolution string          `json:"resolution,omitempty" doc:"What was decided."`
	Digest     string          `json:"digest,omitempty" doc:"Of the output that was accepted."`
	Reason     string          `json:"reason,omitempty"`
	Revision   int64           `json:"revision" doc:"Grows with every decision; it is also the ETag."`
}

// FlagFilter says which flags to list. Zero fields take all.
type FlagFilter struct {
	Job      *uuid.UUID
	State    FlagState
	Kind     string
	Rule     string
	Agent    *uuid.UUID
	Function string
}

type flagRow struct {
	ID              uuid.UUID
	JobID           *uuid.UUID
	FunctionName    *string
	FunctionVersion *int
	Shard           *int64
	AgentID         *uuid.UUID
	Kind            string
	Rule            string
	Decision        string
	Detail          json.RawMessage
	Times           int64
	CreatedAt       time.Time
	LastAt          time.Time
	ResolvedAt      *time.Time
	ResolvedBy      string
	Resolution      string
	Digest          string
	Reason          string
	Revision        int64
}

func (r flagRow) flag() Flag {
	f := Flag{
		ID: r.ID, Kind: r.Kind, Rule: r.Rule, State: FlagOpen, Job: r.JobID, Shard: r.Shard, Agent: r.AgentID, Decision: r.Decision,
		Times: r.Times, Detail: r.Detail, CreatedAt: r.CreatedAt, LastAt: r.LastAt,
		ResolvedAt: r.ResolvedAt, ResolvedBy: r.ResolvedBy, Resolution: r.Resolution, Digest: r.Digest, Reason: r.Reason, Revision: r.Revision,
	}
	if r.ResolvedAt != nil {
		f.State = FlagResolved
	}
	if r.FunctionName != nil && r.FunctionVersion != nil {
		f.Function, f.Version = *r.FunctionName, *r.FunctionVersion
	}
	if r.Shard != nil && r.AgentID != nil {
		f.Attempt = fmt.Sprintf("%d/%s", *r.Shard, r.AgentID)
	}
	return f
}

// ListFlags lists flags in the order in which they were made.
func (s *Service) ListFlags(ctx context.Context, project uuid.UUID, filter FlagFilter, page functions.ListPage) (list []Flag, err error) {
	after, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[flagRow](ctx, tx, sql.ListFlags, after, base.PageLimit(page), filter.Job, filter.State, filter.Kind, filter.Rule, filter.Agent, filter.Function)
		list = make([]Flag, len(rows))
		for i, r := range rows {
			list[i] = r.flag()
		}
		return err
	})
	return list, err
}
