insert into jobs (id, function_id, function_version, partition, policy, state, shards_total, pages_total,
    parent_job, root_job, rule_id, depth, followup_key, created_by, validator, heuristics, rerun_of, priority, conditions, draws_sha256)
values ($1, $2, $3, $4::jsonb, $5::jsonb, 'splitting', $6, $7, $8, $9, $10, $11, $12, $13, $14::jsonb, $15::jsonb, $16, $17, $18::jsonb, $19)
