-- The final results of an agent among some shards of a job, but for those that the server gave as well.
select count(*) from shards s where s.job_id = $1 and s.number >= $2 and s.number < $3 and s.state = 'accepted' and s.agent_id = $4 and s.awaits is null
  and not exists (select from attempts a where a.job_id = s.job_id and a.shard = s.number and a.status = 'ok'
      and a.agent_id = '00000000-0000-0000-0000-000000000000')
