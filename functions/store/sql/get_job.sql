select r.*, j.validator, j.heuristics, j.rerun_of, j.priority, j.conditions,
    (select jsonb_build_object('id', a.id, 'layer', a.layer, 'rule', a.rule, 'reason', a.reason, 'expires_at', a.expires_at)
        from guardian_approvals a where a.job = j.id and a.state = 'waiting' and a.kind in ('job.submit', 'job.follow_up') order by a.id limit 1) as approval,
    (select c.archive from job_archives c where c.job_id = j.id) as archive,
    r.parent_job is not null and not exists (select from jobs p where p.id = r.parent_job and p.state <> 'deleting') as parent_deleted,
    j.rerun_of is not null and not exists (select from jobs p where p.id = j.rerun_of and p.state <> 'deleting') as rerun_of_deleted
from job_rows r join jobs j on j.id = r.id where r.id = $1
