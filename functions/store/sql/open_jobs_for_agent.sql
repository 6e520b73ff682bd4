-- The open jobs after one of them, oldest first. An agent that was revoked while its poll waited gets none, and
-- nobody gets what a switch holds.
select j.project_id, j.job_id, j.min_isolation, j.created_at
from ostraka.open_jobs j
join ostraka.agent_projects m on m.project_id = j.project_id
join ostraka.agents a on a.id = m.agent_id and a.state = 'active'
where m.agent_id = $1 and (j.created_at, j.job_id) > ($2, $3)
  and not exists (
    select from ostraka.kill_switches k
    where k.off_at is null and (k.agent_id is null or k.agent_id = $1) and ostraka.holds(k, j.project_id, j.function, j.function_version)
  )
order by j.created_at, j.job_id limit $4
