-- The final results of an agent in a job, but for those that the server gave as well.
-- The look-up is written as a value, so that it is made by key for each shard: as an anti-join the planner may read every attempt of the
-- job for each, where the tables have no statistics yet.
select s.number from shards s where s.job_id = $1 and s.agent_id = $2 and s.state = 'accepted' and s.awaits is null
  and not coalesce((select a.status = 'ok' from attempts a where a.job_id = s.job_id and a.shard = s.number
      and a.agent_id = '00000000-0000-0000-0000-000000000000'), false)
order by s.number limit $3
