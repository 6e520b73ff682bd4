-- A shard to which one of these agents ($2) has given another answer than the one that counts: one that the server has executed where there
-- is any, since its answer is the one that people compare with.
(
    select r.shard from attempts r
    join attempts a on a.job_id = r.job_id and a.shard = r.shard and a.agent_id = any ($2)
    where r.job_id = $1 and r.agent_id = '00000000-0000-0000-0000-000000000000' and a.status in ('ok', 'error') and r.outcome <> a.outcome
    order by r.shard limit 1
)
union all
(
    select a.shard from attempts a
    join shards s on s.job_id = a.job_id and s.number = a.shard
    join attempts r on r.job_id = a.job_id and r.shard = a.shard and r.agent_id = s.agent_id
    where a.job_id = $1 and a.agent_id = any ($2) and a.status in ('ok', 'error') and r.agent_id <> all ($2) and r.outcome <> a.outcome
    limit 1
)
limit 1
