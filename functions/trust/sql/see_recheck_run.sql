-- Says that the run goes on, and hears whether it is to.
update ostraka.recheck_runs r set seen_at = now() where r.batch = $1
returning exists (
    select from ostraka.kill_switches k where k.off_at is null and k.agent_id is null and ostraka.holds(k, r.project_id, r.function, r.version)
) as held, not exists (select from ostraka.open_jobs o where o.job_id = r.job_id) as ended
