-- Windows of a job that are closed together pass when all audits of all of them have passed, and none of the job is under way.
with pool as materialized (
    select state, state in ('open', 'closing') and (audits = 0 or passed < audits) as waits from windows where job_id = $1 and share > 0
),
due as (
    select w.job_id, w.agent_id, w.number from windows w
    where w.job_id = $1 and w.share > 0 and w.state = 'closing' and not exists (select from pool p where p.waits or p.state = 'failed')
      and not exists (select from audits a where a.job_id = $1 and a.state = 'drawn')
    order by w.agent_id, w.number for update of w
)
update windows w set state = 'passed' from due
where w.job_id = due.job_id and w.agent_id = due.agent_id and w.number = due.number
returning w.agent_id, w.number
