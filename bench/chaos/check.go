package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/books"
	"github.com/ostraka/ostraka/migrations"
)

// check holds a job that has ended against what it must have come to.
func (w *world) check(ctx context.Context, id uuid.UUID) error {
	job := w.ask(ctx, id)
	if job == nil {
		return errors.New("the job cannot be read")
	}
	n := 10 * w.shards
	want := fmt.Sprintf(`{"n":%d,"sum":%d}`, n, n*(n-1)/2)
	if job.State != "finished" || job.Shards.Accepted != w.shards || job.Aggregate == nil || string(job.Aggregate.Value) != want || job.Aggregate.Count != w.shards {
		return fmt.Errorf("the job is %s with %d of %d shards accepted, its answer is not %s: %+v", job.State, job.Shards.Accepted, w.shards, want, job.Aggregate)
	}
	return w.inBooks(ctx, func(conn *pgx.Conn) error {
		return errors.Join(books.Check(ctx, conn, id), w.counts(ctx, conn, id))
	})
}

// counts looks into the database itself: what the API says could be wrong in the same way as the answer.
func (w *world) counts(ctx context.Context, conn *pgx.Conn, id uuid.UUID) error {
	var wrong []error
	for question, want := range map[string]int64{
		"select count(*) from shards where job_id = $1 and state = 'accepted'":         w.shards,
		"select count(*) from shards where job_id = $1 and (wanted <> 0 or lent <> 0)": 0,
		"select sum(accepted) from pages where job_id = $1":                            w.shards,
		"select sum(count) from partials where job_id = $1 and level = 0":              w.shards,
		"select count(*) from leases where job_id = $1 and state = 'open'":             0,
		"select count(*) from (select from attempts a join jobs j on j.id = a.job_id where j.id = $1 and j.policy @> '{\"quorum\": 2}' and a.status = 'ok' group by a.shard having count(distinct a.agent_id) < 2) as too_few": 0,
	} {
		var got int64
		if err := conn.QueryRow(ctx, question, id).Scan(&got); err != nil {
			return fmt.Errorf("%s: %w", question, err)
		}
		if got != want {
			wrong = append(wrong, fmt.Errorf("%s: %d, it should be %d", question, got, want))
		}
	}
	return errors.Join(wrong...)
}

// inBooks connects to the project's schema.
func (w *world) inBooks(ctx context.Context, look func(*pgx.Conn) error) (err error) {
	conn, err := pgx.Connect(ctx, w.rig.DB.URL())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if _, err := conn.Exec(ctx, "set search_path = "+migrations.ProjectSchema(w.tenant.ID)); err != nil {
		return err
	}
	return look(conn)
}

// stuck is what the database knows of unfinished work.
func (w *world) stuck(ctx context.Context, id uuid.UUID) string {
	text := ""
	err := w.inBooks(ctx, func(conn *pgx.Conn) error {
		for _, question := range []string{
			"select json_build_object('job', j)::text from (select state, pages_folded, pages_total from jobs where id = $1) j",
			"select json_build_object('shard', s)::text from (select number, state, wanted, lent, lost from shards where job_id = $1 and state <> 'accepted' limit 20) s",
			"select json_build_object('lease', l)::text from (select id, state, reported, shards, created_at from leases where job_id = $1 and state = 'open') l",
			"select json_build_object('submission', s)::text from (select id, shards, received_at from submissions where job_id = $1 and verified_at is null) s",
			"select json_build_object('step', r)::text from (select id, kind, state, attempt, attempted_at, scheduled_at, errors from river.river_job where $1::uuid is not null and state <> 'completed' limit 20) r",
			"select json_build_object('server', s, 'now', now())::text from (select * from ostraka.servers where $1::uuid is not null) s",
		} {
			rows, err := conn.Query(ctx, question, id)
			if err != nil {
				return err
			}
			found, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return err
			}
			text += fmt.Sprintln(found)
		}
		return nil
	})
	if err != nil {
		text += err.Error()
	}
	return text
}

// askLimit bounds a question to a server that may be stopped.
const askLimit = 2 * time.Second
