-- Shards that wait for a further attempt though each of these agents ($2) has tried them. The first that wait are looked at: where a job
-- does not go on, there are no others.
select s.number from (
    select number from shards where job_id = $1 and state = 'open' and wanted > 0 and lent = 0 order by number limit 1000
) s
where not exists (
    select from unnest($2::uuid[]) as agent
    where not exists (select from attempts a where a.job_id = $1 and a.shard = s.number and a.agent_id = agent)
)
order by s.number
