-- Version 0 is the newest.
select w.id, w.name, w.newest, w.created_at, v.version, v.digest, v.definition, v.functions, v.modules, v.files, v.pushed_by, v.pushed_at,
    (select count(*) from workflow_runs r where r.workflow_id = w.id and r.id in (
        select id from workflow_runs where state in ('running', 'paused') union select run_id from workflow_run_steps where state = 'running')) as open_runs
from workflows w
join workflow_versions v on v.workflow_id = w.id and v.version = coalesce(nullif($2::integer, 0), w.newest)
where w.name = $1
