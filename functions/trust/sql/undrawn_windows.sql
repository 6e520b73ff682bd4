-- The windows of a job that are left, with the results that wait in them and the audits that their agents have passed since one failed: none
-- where something was drawn from a window of the job before.
select w.agent_id, coalesce(c.owner, '') as owner, w.number, coalesce(t.since_failure, 0) as since_failure,
    (select count(*) from shards s where s.agent_id = w.agent_id and s.job_id = $1 and s.awaits = w.number) as results
from windows w left join lease_cursors c on c.job_id = $1 and c.agent_id = w.agent_id left join trust t on t.agent_id = w.agent_id
where w.job_id = $1 and w.state in ('open', 'closing')
  and not exists (select from windows d where d.job_id = $1 and (d.audits > 0 or d.together > 0))
order by w.agent_id, w.number
