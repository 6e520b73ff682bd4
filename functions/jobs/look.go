package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// LookJobs is how many of a project's newest jobs a look goes through.
	LookJobs = 100
	// MaxCount is how far things without a stored count are counted; one more stands for "more".
	MaxCount = 10_000
	// versionsSeen is how long ago an agent may have been heard of whose version is told.
	versionsSeen = 10 * time.Minute
)

// JobLook is how far a job has come.
type JobLook struct {
	ID       uuid.UUID             `json:"id"`
	Function string                `json:"function"`
	Version  int                   `json:"version"`
	State    functions.JobState    `json:"state"`
	Shards   functions.ShardCounts `json:"shards"`
	Attempts int64                 `json:"attempts"`
	EventSeq int64                 `json:"event_seq" doc:"The number of the job's last event."`
}

// FlagsLook is how many flags wait for people.
type FlagsLook struct {
	Open int64 `json:"open" doc:"Counted up to 10,000; 10,001 means more."`
}

// AgentsLook is how many agents the project lists.
type AgentsLook struct {
	States map[fleet.AgentState]int64 `json:"states"`
	Online int64                      `json:"online" doc:"Heard of within a minute."`
}

// ProjectLook is what changes in a project, at one moment.
type ProjectLook struct {
	Jobs   []JobLook
	Flags  FlagsLook
	Agents AgentsLook
}

// Look reads the state of a project: its newest running jobs, and those that are asked for.
func (s *Service) Look(ctx context.Context, project uuid.UUID, jobs []uuid.UUID) (look ProjectLook, err error) {
	type agents struct {
		State         fleet.AgentState
		Count, Online int64
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[lookRow](ctx, tx, sql.LookJobs, LookJobs, jobs)
		if err != nil {
			return err
		}
		look = ProjectLook{Jobs: make([]JobLook, len(rows)), Agents: AgentsLook{States: map[fleet.AgentState]int64{}}}
		for i, r := range rows {
			look.Jobs[i] = r.look()
		}
		if look.Flags.Open, _, err = store.Value[int64](ctx, tx, sql.LookFlags, MaxCount+1); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		return store.Each(ctx, server, sql.LookAgents, func(a agents) error {
			look.Agents.States[a.State] = a.Count
			look.Agents.Online += a.Online
			return nil
		}, project)
	})
	return look, err
}

type lookRow struct {
	ID                                                     uuid.UUID
	FunctionName                                           string
	FunctionVersion                                        int
	State                                                  functions.JobState
	ShardsTotal                                            int64
	Open, Accepted, Provisional, Review, Failed, Cancelled int64
	Attempts, EventSeq                                     int64
}

func (r lookRow) look() JobLook {
	j := Row{
		ID: r.ID, FunctionName: r.FunctionName, FunctionVersion: r.FunctionVersion, State: r.State, ShardsTotal: r.ShardsTotal, Open: r.Open,
		Accepted: r.Accepted, Provisional: r.Provisional, Review: r.Review, Failed: r.Failed, Cancelled: r.Cancelled, Attempts: r.Attempts,
	}.Job()
	return JobLook{ID: r.ID, Function: r.FunctionName, Version: r.FunctionVersion, State: r.State, Shards: j.Shards, Attempts: r.Attempts, EventSeq: r.EventSeq}
}

// AgentVersion is how many agents run one version of the program.
type AgentVersion struct {
	Version string `json:"version"`
	Agents  int64  `json:"agents"`
}

// AgentVersions says which versions the agents run that were heard of lately: of a project, or, for the nil UUID, of all.
func (s *Service) AgentVersions(ctx context.Context, project uuid.UUID) (list []AgentVersion, err error) {
	var of *uuid.UUID
	if project != uuid.Nil {
		of = &project
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		list, err = store.Many[AgentVersion](ctx, tx, sql.AgentVersions, of, versionsSeen)
		return err
	})
	return list, err
}
