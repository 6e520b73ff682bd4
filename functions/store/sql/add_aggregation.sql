insert into aggregations (job_id, run, aggregator, created_by)
select $1, coalesce(max(run), 0) + 1, $2::jsonb, $3 from aggregations where job_id = $1
returning run
