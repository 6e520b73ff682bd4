insert into workflow_wrong_shards (run_id, number, step, job_id, shard, first, last, was, instead, agents, jobs)
values ($1, $2, $3, $4, $5, $6::text::numeric, $7::text::numeric, $8, $9, $10::jsonb, $11)
