-- The terms of a job, if it has a target error and shards that wait for an agent.
select policy, validator from jobs j
where id = $1 and policy ? 'target_error' and state in ('splitting', 'running')
  and exists (select from shards s where s.job_id = j.id and s.state = 'open' and s.wanted > 0 and s.lent = 0)
