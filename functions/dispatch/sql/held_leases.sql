select l.id, l.project_id, l.job_id, l.agent_id
from kill_switches k join leases l on l.ended_at is null and (k.agent_id is null or l.agent_id = k.agent_id)
where k.id = $1 and k.off_at is null and holds(k, l.project_id, l.function, l.function_version)
