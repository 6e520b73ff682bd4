-- Counts a failure ($3: 0 or 1), and gives up at the last one that is borne ($6), or at once ($5).
insert into comparison_failures as f (job_id, shard, failures, error, given_up) values ($1, $2, $3::int, left($4::text, 8192), $5::boolean or $3::int >= $6::int)
on conflict (job_id, shard) do update set failures = f.failures + excluded.failures, error = excluded.error, failed_at = now(),
    given_up = f.given_up or excluded.given_up or f.failures + excluded.failures >= $6::int
returning given_up
