insert into aggregations (job_id, run, aggregator, state, error, pages_folded, value, object, count, summary, left_out, rows, rows_object, created_by, finished_at)
values ($1, $2, $3::jsonb, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
