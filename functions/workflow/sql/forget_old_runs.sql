-- The oldest runs that have ended, where there are more than $1 of them, at most $2. One whose jobs are still to be cancelled stays.
delete from workflow_runs where id in (
    select id from workflow_runs r where ended_at is not null
        and not exists (select from workflow_run_steps s where s.run_id = r.id and s.state = 'running')
    order by ended_at, id
    limit least($2, greatest(0, (select count(*) from workflow_runs where ended_at is not null) - $1)))
