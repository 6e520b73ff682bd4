-- The jobs that ended first, of those that ended longer ago than $1 and whose answer no run of a workflow has yet to fold.
select j.id from jobs j where j.state in ('finished', 'failed', 'cancelled') and j.finished_at < now() - $1::interval
    and not exists (select from workflow_parts p where p.job_id = j.id and p.state = 'open')
order by j.finished_at limit $2
