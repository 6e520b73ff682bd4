-- Runs of workflows are kept as long as jobs are.
delete from workflow_runs where id in (select id from workflow_runs where ended_at < now() - $1::interval order by ended_at limit $2)
