-- The time of a job or a run that has not ended is kept, so that the next one knows of it.
delete from schedule_firings f
where schedule_id = $1 and at < (select at from schedule_firings where schedule_id = $1 order by at desc offset $2 limit 1)
    and not exists (select from jobs j where j.id = f.job_id and j.state not in ('finished', 'failed', 'cancelled', 'deleting'))
    and not exists (select from workflow_runs r where r.id = f.run_id and r.state in ('running', 'paused'))
