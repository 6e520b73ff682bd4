package main

import (
	"context"
	_ "embed"
	"fmt"
	"time"

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

// rawLifecycle leases, records and accepts shards in plain SQL: what any system on Postgres pays at least. It returns shards/s.
func (b *bench) rawLifecycle(ctx context.Context) (float64, error) {
	pool, err := pgxpool.New(ctx, b.databaseURL)
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	_, err = pool.Exec(ctx, fmt.Sprintf(`
		drop schema if exists raw cascade;
		create schema raw;
		create table raw.shards (number bigint primary key, state text not null default 'open', wanted smallint not null default 1);
		create index on raw.shards (number) where state = 'open' and wanted > 0;
		create table raw.results (shard bigint, agent int, output bytea, digest bytea, primary key (shard, agent));
		insert into raw.shards (number) select generate_series(0, %d)`, b.shards-1))
	if err != nil {
		return 0, fmt.Errorf("making the raw tables: %w", err)
	}
	start := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for agent := range connections {
		group.Go(func() error {
			for {
				n, err := rawBatch(ctx, pool, agent)
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
func rawBatch(ctx context.Context, pool *pgxpool.Pool, agent int) (int, error) {
	rows, err := pool.Query(ctx, `
		with picked as (
			select number from raw.shards where state = 'open' and wanted > 0 order by number limit $1 for update skip locked
		)
		update raw.shards s set wanted = 0 from picked where s.number = picked.number returning s.number`, batch)
	if err != nil {
		return 0, fmt.Errorf("raw lease: %w", err)
	}
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(numbers) == 0 {
		return 0, err
	}
	outputs, digests := make([][]byte, len(numbers)), make([][]byte, len(numbers))
	for i := range numbers {
		outputs[i], digests[i] = []byte(`{"passed":22,"tested":1000}`), make([]byte, 32)
	}
	if _, err := pool.Exec(ctx, `insert into raw.results (shard, agent, output, digest) select n, $2, o, d from unnest($1::bigint[], $3::bytea[], $4::bytea[]) as r (n, o, d)`,
		numbers, agent, outputs, digests); err != nil {
		return 0, fmt.Errorf("raw results: %w", err)
	}
	if _, err := pool.Exec(ctx, `update raw.shards set state = 'accepted' where number = any ($1)`, numbers); err != nil {
		return 0, fmt.Errorf("raw accept: %w", err)
	}
	return len(numbers), nil
}
