-- $8 is how far a turn takes the job. It begins half a turn after the last one of its project began, as turns.Enter has it.
insert into open_jobs (job_id, project_id, min_isolation, function, function_version, held, shards, created_at, stride, turn_start, turn_end, awaits, awaits_until, wasm, runtime, volumes)
select $1, $2, $3, $4, $5, $6, $7, now(), $8::float8, clock, clock + $8::float8 / 2, $9, $10, $11, $12, $13
from (select coalesce(max(turn_start), 0) as clock from open_jobs where project_id = $2) line
