insert into aggregations (job_id, run, aggregator, created_by, beside)
select $1, coalesce(max(run), 0) + 1, $2::jsonb, $3, true from aggregations where job_id = $1
returning run
