-- What the times of a schedule have made that has not ended: jobs, and runs of workflows.
select j.id, false as run from schedule_firings f join jobs j on j.id = f.job_id
where f.schedule_id = $1 and j.state not in ('finished', 'failed', 'cancelled', 'deleting')
union all
select r.id, true as run from schedule_firings f join workflow_runs r on r.id = f.run_id
where f.schedule_id = $1 and r.state in ('running', 'paused')
order by id
