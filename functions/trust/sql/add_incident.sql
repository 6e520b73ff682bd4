-- A job has one incident for an agent. One that is caught once more may have more final results by then; nothing changes where it has not.
insert into incidents as i (id, agent_id, job_id, shards, job_state, reason) values ($1, $2, $3, $4, $5, $6)
on conflict (agent_id, job_id) do update set shards = excluded.shards, job_state = excluded.job_state, reason = excluded.reason
    where i.shards < excluded.shards
