-- A job that ended elsewhere. It follows nothing here, nothing of it is split, and its inputs are in its archive.
insert into jobs (id, function_id, function_version, partition, policy, state, error, shards_total, pages_total, root_job, created_by, created_at,
    started_at, finished_at, validator, heuristics, priority, run, split_next, inputs_kept, pack_next)
values ($1, $2, $3, $4::jsonb, $5::jsonb, $6, $7, $8, $9, $1, $10, $11, $12, $13, $14::jsonb, $15::jsonb, $16, $17, $8, true, null)
on conflict do nothing
