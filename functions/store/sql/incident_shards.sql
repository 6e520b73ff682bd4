-- The final results of an agent in a job, but for those that the server gave as well.
select s.number from shards s where s.job_id = $1 and s.agent_id = $2 and s.state = 'accepted' and s.awaits is null
  and not exists (select from attempts a where a.job_id = s.job_id and a.shard = s.number and a.status = 'ok'
      and a.agent_id = '00000000-0000-0000-0000-000000000000')
order by s.number limit $3
