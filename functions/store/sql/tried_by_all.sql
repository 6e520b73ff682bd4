-- Shards that wait for a further attempt though as many agents as can be used ($3) have tried them; $2 are those that cannot. A sample:
-- one is enough to explain.
select count(*) from (
    select s.number from shards s where s.job_id = $1 and s.state = 'open' and s.wanted > 0 and s.lent = 0 order by s.number limit 1000
) s
where (select count(*) from attempts a where a.job_id = $1 and a.shard = s.number and a.agent_id <> all ($2)) >= $3
