-- The rechecks of the job $1 wait for $4, or until rules change: those of the operators are in version $5 now.
insert into recheck_holds as h (job_id, code, reason, until, operator_version, project_version)
select $1, $2, $3, now() + $4::interval, $5, version from guardian_policy
on conflict (job_id) do update set code = excluded.code, reason = excluded.reason, until = excluded.until,
    operator_version = excluded.operator_version, project_version = excluded.project_version
