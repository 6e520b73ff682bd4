-- The jobs of a schedule that have not ended.
select j.id from schedule_firings f join jobs j on j.id = f.job_id
where f.schedule_id = $1 and j.state not in ('finished', 'failed', 'cancelled', 'deleting') order by j.id
