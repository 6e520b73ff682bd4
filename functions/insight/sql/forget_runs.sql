-- Runs of workflows are kept as long as jobs are.
delete from workflow_runs where id in (
    select id from workflow_runs r where ended_at < now() - $1::interval
        and not exists (select from workflow_run_steps s where s.run_id = r.id and s.state = 'running')
    order by ended_at limit $2)
