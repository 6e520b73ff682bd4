-- A stretch gets a job, or has lost it.
insert into workflow_parts (run_id, number, first, last, state, job_id, shards, error, items)
values ($1, $2, $3::text::numeric, $4::text::numeric, $5, $6, $7, $8, $9)
on conflict (run_id, number, first) do update set state = excluded.state, job_id = excluded.job_id, error = excluded.error
