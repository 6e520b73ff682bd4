select id, job_id, shard, agent_id, kind, detail, created_at from flags
where id > $1 and ($3::uuid is null or job_id = $3) and resolved_at is null order by id limit $2
