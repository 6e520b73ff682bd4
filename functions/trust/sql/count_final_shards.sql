-- The final results of an agent among some shards of a job, but for those that the server gave as well.
-- The look-up is written as a value, so that it is made by key for each shard: as an anti-join the planner may read every attempt of the
-- job for each, where the tables have no statistics yet.
select count(*) from shards s where s.job_id = $1 and s.number >= $2 and s.number < $3 and s.state = 'accepted' and s.agent_id = $4 and s.awaits is null
  and not coalesce((select a.status = 'ok' from attempts a where a.job_id = s.job_id and a.shard = s.number
      and a.agent_id = '00000000-0000-0000-0000-000000000000'), false)
