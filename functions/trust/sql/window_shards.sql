-- The results of a window that are not under audit.
select s.number from shards s
where s.agent_id = $2 and s.job_id = $1 and s.awaits = $3
  and not coalesce((select a.state = 'drawn' or a.state = 'void' from audits a where a.job_id = $1 and a.shard = s.number and a.agent_id = $2), false)
order by s.number
