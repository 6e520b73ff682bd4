-- The jobs that ended first, of those that ended longer ago than $1. Where it failed it is tried again after a day.
select j.id from jobs j where j.state in ('finished', 'failed', 'cancelled') and j.finished_at < now() - $1::interval
    and not exists (select from archives c where c.job_id = j.id and (c.state <> 'failed' or c.asked_at > now() - interval '1 day'))
    and not exists (select from flags f where f.job_id = j.id and f.resolved_at is null and f.kind <> 'share')
    and not exists (select from workflow_run_steps s join workflow_runs r on r.id = s.run_id where s.job_id = j.id and r.state in ('running', 'paused'))
    and not exists (select from workflow_parts p where p.job_id = j.id and p.state = 'open')
order by j.finished_at limit $2
