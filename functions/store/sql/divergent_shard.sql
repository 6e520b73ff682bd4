-- A shard to which one of these agents ($2) has given another answer than the one that counts.
select a.shard from attempts a
join shards s on s.job_id = a.job_id and s.number = a.shard
join attempts r on r.job_id = a.job_id and r.shard = a.shard and (r.agent_id = s.agent_id or r.agent_id = '00000000-0000-0000-0000-000000000000')
where a.job_id = $1 and a.agent_id = any ($2) and a.status in ('ok', 'error') and r.agent_id <> all ($2) and r.outcome <> a.outcome
limit 1
