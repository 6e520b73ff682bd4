select l.project_id, l.job_id, l.script, l.ended_at is not null as ended, a.public_key, a.state as agent_state
from ostraka.leases l join ostraka.agents a on a.id = l.agent_id
where l.id = $1 and l.agent_id = $2
