package main

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

const (
	// batch is how many shards one lease holds, and connections how many work at once the raw way: those of the measured facts that
	// the comparison stands on.
	batch       = 100
	connections = 4
	// agents work at once our way. An agent waits for an answer between two requests, so it takes more of them to keep the cores busy.
	agents = 8
)

//go:embed fresh.sql
var freshSQL string

//go:embed raw_tables.sql
var rawTablesSQL string

//go:embed raw_lease.sql
var rawLeaseSQL string

//go:embed raw_results.sql
var rawResultsSQL string

//go:embed raw_accept.sql
var rawAcceptSQL string

// rawLifecycle leases, records and accepts shards in plain SQL: what any system on Postgres pays at least. It keeps the same facts under
// the same keys as we do, and nothing else. It returns shards/s.
func (b *bench) rawLifecycle(ctx context.Context) (float64, error) {
	pool, err := pgxpool.New(ctx, b.databaseURL)
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	job := uuid.New()
	_, err = pool.Exec(ctx, fmt.Sprintf(rawTablesSQL, job, b.shards-1))
	if err != nil {
		return 0, fmt.Errorf("making the raw tables: %w", err)
	}
	start := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for range connections {
		agent := uuid.New()
		group.Go(func() error {
			for {
				n, err := rawBatch(ctx, pool, job, agent)
				if err != nil || n == 0 {
					return err
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return float64(b.shards) / time.Since(start).Seconds(), nil
}

// freshDatabase drops what an earlier measurement has left, so that each one starts alike.
func (b *bench) freshDatabase(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, b.databaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, freshSQL)
	if err != nil {
		return fmt.Errorf("clearing the database: %w", err)
	}
	return nil
}

// rawBatch is one lease, one post of results and one accept, a transaction each.
func rawBatch(ctx context.Context, pool *pgxpool.Pool, job, agent uuid.UUID) (int, error) {
	rows, err := pool.Query(ctx, rawLeaseSQL, job, batch)
	if err != nil {
		return 0, fmt.Errorf("raw lease: %w", err)
	}
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(numbers) == 0 {
		return 0, err
	}
	n := len(numbers)
	status, outputs, digests, measured := make([]string, n), make([][]byte, n), make([][]byte, n), make([]int64, n)
	for i := range numbers {
		status[i], outputs[i], digests[i], measured[i] = "ok", []byte(output), make([]byte, 32), 1000
	}
	if _, err := pool.Exec(ctx, rawResultsSQL, job, agent, numbers, status, outputs, digests, measured); err != nil {
		return 0, fmt.Errorf("raw results: %w", err)
	}
	if _, err := pool.Exec(ctx, rawAcceptSQL, job, numbers, agent); err != nil {
		return 0, fmt.Errorf("raw accept: %w", err)
	}
	return n, nil
}
