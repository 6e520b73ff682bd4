-- The terms of a job, if its shards need answers of independent agents and some wait for one.
select policy, validator, conditions from jobs j
where id = $1 and (policy ?| array['target_error', 'recheck'] or coalesce((policy ->> 'quorum')::int, 1) > 1) and state in ('splitting', 'running')
  and exists (select from shards s where s.job_id = j.id and s.state = 'open' and s.wanted > 0 and s.lent = 0)
