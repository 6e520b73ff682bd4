package main

import (
	"context"
	_ "embed" // the query
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/migrations"
)

//go:embed last_shard.sql
var lastShardSQL string

// tail compares what a job still had to fold when its last shard was accepted with folding all of it at once: the job is aggregated
// again with the same module, from the first page to the answer.
func (b *bench) tail(ctx context.Context, owner *client.ClientWithResponses, project, job uuid.UUID) (ratio float64, err error) {
	last, err := b.lastAccepted(ctx, project, job)
	if err != nil {
		return 0, err
	}
	done, err := getJob(ctx, owner, project, job, "")
	if err != nil {
		return 0, err
	}
	if done.FinishedAt == nil {
		return 0, fmt.Errorf("job %s has not finished", job)
	}
	tail := done.FinishedAt.Sub(last)
	whole, err := foldAgain(ctx, owner, project, job)
	if err != nil {
		return 0, err
	}
	say("the answer stood %.0f ms after the last shard; folding everything at once takes %.0f ms", ms(tail), ms(whole))
	return tail.Seconds() / whole.Seconds(), nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (b *bench) lastAccepted(ctx context.Context, project, job uuid.UUID) (at time.Time, err error) {
	config, err := pgx.ParseConfig(b.databaseURL)
	if err != nil {
		return at, fmt.Errorf("reading the database's address: %w", err)
	}
	config.RuntimeParams["search_path"] = migrations.ProjectSchema(project)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return at, fmt.Errorf("connecting to the database: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := conn.QueryRow(ctx, lastShardSQL, job).Scan(&at); err != nil {
		return at, fmt.Errorf("reading when the last shard was accepted: %w", err)
	}
	return at, nil
}

func foldAgain(ctx context.Context, owner *client.ClientWithResponses, project, job uuid.UUID) (time.Duration, error) {
	asked, err := owner.ReaggregateJobWithResponse(ctx, project, job, nil, client.AggregationRequest{Module: "sum"})
	if err != nil {
		return 0, fmt.Errorf("aggregating again: %w", err)
	}
	if asked.JSON202 == nil {
		return 0, fmt.Errorf("aggregating again: %s: %s", asked.Status(), asked.Body)
	}
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		list, err := owner.ListAggregationsWithResponse(ctx, project, job, nil)
		if err != nil || list.JSON200 == nil {
			return 0, fmt.Errorf("waiting for the aggregation: %w: %s", err, list.Body)
		}
		a := list.JSON200.Items[len(list.JSON200.Items)-1]
		switch {
		case a.State == "failed":
			return 0, fmt.Errorf("aggregating again: %s", a.Error)
		case a.FinishedAt != nil:
			return a.FinishedAt.Sub(a.CreatedAt), nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-poll.C:
		}
	}
}
